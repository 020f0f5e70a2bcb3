import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { contentOf } from '../../owned-fields.ts'
import { ownedKind } from '../owned-kind.ts'

/** The highest value that is not Kubernetes' own. */
const HIGHEST = 1_000_000_000

/** The tenant's PriorityClasses, for its pods. None of them is the default of the host. */
export const priorityClasses = ownedKind({
  resource: RESOURCES['priorityclasses.scheduling.k8s.io'],
  version: 1,
  isEnabled: (config) => isEnabled(config, 'toHost', 'priorityClasses'),
  excluded: ({ metadata }) => metadata.name?.startsWith('system-') === true,
  content: ({ virtual }) => {
    const { globalDefault: _default, value, ...fields } = contentOf(virtual)
    return {
      kind: 'content',
      fields: { ...fields, ...(typeof value === 'number' ? { value: Math.min(value, HIGHEST) } : {}) },
    }
  },
  immutable: ['value', 'preemptionPolicy'],
})
