import { cloneJson, jsonEqual } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'

import { asString, objectsIn } from '../schema/json-shape.ts'
import { specOf } from './create-strategy.ts'
import { forbidden } from './field-problem.ts'
import { qosClassOf } from './pod-rules.ts'
import type { KindRules } from './strategy.ts'
import { validatePodSpec } from './validate-pod-spec.ts'

const byName = (containers: readonly JsonObject[]): Map<string, JsonObject> =>
  new Map(containers.map((container) => [asString(container['name']), container]))

function keepMetadata(next: KubeObject, previous: KubeObject): void {
  const { uid, resourceVersion } = next.metadata
  next.metadata = cloneJson(previous.metadata)
  if (uid !== undefined) next.metadata.uid = uid
  if (resourceVersion !== undefined) next.metadata.resourceVersion = resourceVersion
}

/** `pods/ephemeralcontainers`: containers for debugging are added to a running pod, never changed. */
export const EPHEMERAL_CONTAINER_RULES: KindRules = {
  hasGeneration: true,
  prepareUpdate: (next, previous) => {
    const ephemeral = objectsIn(specOf(next)['ephemeralContainers'])
    const spec = cloneJson(specOf(previous))
    if (ephemeral.length === 0) delete spec['ephemeralContainers']
    else spec['ephemeralContainers'] = ephemeral
    next['spec'] = spec
    keepMetadata(next, previous)
  },
  validate: (pod) => validatePodSpec(specOf(pod), 'spec'),
  validateUpdate: (next, previous) => {
    const present = byName(objectsIn(specOf(next)['ephemeralContainers']))
    return [...byName(objectsIn(specOf(previous)['ephemeralContainers']))].flatMap(([name, container]) => {
      const now = present.get(name)
      if (now !== undefined && jsonEqual(now, container)) return []
      const problem = `existing ephemeral containers ${JSON.stringify(name)} may not be ${now === undefined ? 'removed' : 'changed'}`
      return [forbidden('spec.ephemeralContainers', problem)]
    })
  },
}

/** `pods/resize`: only the resources of containers change. */
export const RESIZE_RULES: KindRules = {
  hasGeneration: true,
  prepareUpdate: (next, previous) => {
    const spec = cloneJson(specOf(previous))
    for (const list of ['containers', 'initContainers']) {
      const wanted = byName(objectsIn(specOf(next)[list]))
      for (const container of objectsIn(spec[list])) {
        const change = wanted.get(asString(container['name']))
        for (const name of ['resources', 'resizePolicy']) {
          if (change?.[name] !== undefined) container[name] = change[name]
        }
      }
    }
    next['spec'] = spec
    keepMetadata(next, previous)
  },
  validate: (pod) => validatePodSpec(specOf(pod), 'spec'),
  validateUpdate: (next, previous) =>
    qosClassOf(specOf(next)) === qosClassOf(specOf(previous))
      ? []
      : [forbidden('spec', 'Pod QOS Class may not change as a result of resizing')],
}
