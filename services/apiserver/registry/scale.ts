import type { KubeObject } from '#libs/kube-model'
import { valuesAt } from '../custom-resources/json-path.ts'
import type { ApiResource } from '../discovery/resources.ts'

type Scalable = {
  spec?: { replicas?: number; selector?: { matchLabels?: Record<string, string> } | Record<string, string> | string }
  status?: { replicas?: number }
}

/** The `scale` view of a workload. */
export function scaleOf(resource: ApiResource, object: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const { spec, status } = scalable(resource, object)
  const selector = typeof spec?.selector === 'string' ? spec.selector : selectorText(resource, spec?.selector)
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: spec?.replicas ? { replicas: spec.replicas } : {},
    status: { replicas: status?.replicas ?? 0, ...(selector === '' ? {} : { selector }) },
  }
}

/** Custom kinds say where their numbers are. */
function scalable(resource: ApiResource, object: KubeObject): Scalable {
  const paths = resource.custom?.scale
  if (paths === undefined) return object as unknown as Scalable
  const number = (path: string): number => {
    const [value] = valuesAt(path, object)
    return typeof value === 'number' ? value : 0
  }
  const [selector] = paths.labelSelectorPath === undefined ? [] : valuesAt(paths.labelSelectorPath, object)
  return {
    spec: { replicas: number(paths.specReplicasPath), selector: typeof selector === 'string' ? selector : '' },
    status: { replicas: number(paths.statusReplicasPath) },
  }
}

type Expression = { key: string; operator: string; values?: string[] }

function selectorText(resource: ApiResource, selector: unknown): string {
  const isPlain = resource.kind === 'ReplicationController'
  const { matchLabels = {}, matchExpressions = [] } = (isPlain ? { matchLabels: selector } : (selector ?? {})) as {
    matchLabels?: Record<string, string>
    matchExpressions?: Expression[]
  }
  const labels = Object.entries(matchLabels).map(([key, value]) => ({ key, text: `${key}=${value}` }))
  const expressions = matchExpressions.map((expression) => ({ key: expression.key, text: expressionText(expression) }))
  return [...labels, ...expressions]
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ text }) => text)
    .join(',')
}

function expressionText({ key, operator, values = [] }: Expression): string {
  switch (operator) {
    case 'In':
      return `${key} in (${[...values].sort().join(',')})`
    case 'NotIn':
      return `${key} notin (${[...values].sort().join(',')})`
    case 'Exists':
      return key
    default:
      return `!${key}`
  }
}
