import { cloneJson } from '#libs/kernel'
import { RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { asObject } from '../../json.ts'
import { contentOf } from '../../owned-fields.ts'
import { ownedKind } from '../owned-kind.ts'
import { unknownDeviceClass } from '../resourceclaims.resource.k8s.io/devices.ts'

/** The tenant's ResourceClaimTemplates, of which the host makes claims for the copies of pods. */
export const resourceClaimTemplates = ownedKind({
  resource: RESOURCES['resourceclaimtemplates.resource.k8s.io'],
  version: 1,
  isEnabled: (config) => isEnabled(config, 'toHost', 'resourceClaimTemplates'),
  content: (input) => {
    const fields = cloneJson(contentOf(input.virtual))
    const unknown = unknownDeviceClass(asObject(asObject(fields.spec)?.spec), input)
    return unknown === undefined
      ? { kind: 'content', fields }
      : { kind: 'reject', reason: 'UnknownClass', message: unknown }
  },
  immutable: ['spec'],
})
