import { readFileSync } from 'node:fs'
import { CausewayError } from '#libs/kernel'
import { type KubeClient, isAlreadyExists } from '#libs/kube'
import { type KubeObject, RESOURCES, type ResourceInfo } from '#libs/kube-model'
import { parseAllDocuments } from 'yaml'

const deployments: ResourceInfo = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
}

const BY_KIND: Record<string, ResourceInfo> = Object.fromEntries(
  [...Object.values(RESOURCES), deployments].map((resource) => [resource.kind, resource]),
)

/** The objects of the sample; `withDeployment` adds one that controllers turn into pods. */
export function sampleObjects(withDeployment: boolean): KubeObject[] {
  const files = withDeployment ? ['manifests.yaml', 'deployment.yaml'] : ['manifests.yaml']
  return files.flatMap((file) => {
    const documents = parseAllDocuments(readFileSync(new URL(file, import.meta.url), 'utf8'))
    return documents.map((document) => document.toJS() as KubeObject)
  })
}

/** Creates the objects in a tenant, in order. What is there from an earlier run stays as it is. */
export async function applySample(client: KubeClient, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const resource = BY_KIND[object.kind ?? '']
    if (resource === undefined)
      throw new CausewayError(`the sample has a ${object.kind}, which is not known`, { code: 'SampleInvalid' })
    try {
      await client.create(resource, { namespace: object.metadata.namespace }, object)
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }
}
