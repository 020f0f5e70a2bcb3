import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import type { Report } from '../../kind.ts'
import { eventForTenant, subjectOf } from './translate.ts'

/** Events of the host about a tenant's copies, which the tenant reads of its own objects. */
export const events: Report = {
  resource: RESOURCES.events,
  version: 1,
  isEnabled: (config) => isEnabled(config, 'fromHost', 'events'),
  subjectOf,
  forTenant: eventForTenant,
}
