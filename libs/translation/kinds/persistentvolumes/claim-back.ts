import { jsonEqual } from '#libs/kernel'
import type { JsonObject } from '#libs/kube-model'
import { asObject, textOf } from '../../json.ts'
import type { PairInput, PairWrite } from '../../kind.ts'
import { patchVirtual } from '../../patches.ts'
import { virtualRefOf } from '../../stamps.ts'

/** Shows the tenant which of its claims the host has bound a volume to, or that it is bound to none any more. */
export function claimBack({ virtual, host, tenant, related }: PairInput): PairWrite | undefined {
  const bound = asObject(asObject(host.spec)?.claimRef)
  const shown = asObject(asObject(virtual.spec)?.claimRef)
  if (bound?.uid === undefined) return undefined
  const ref = { resource: 'persistentvolumeclaims', namespace: textOf(bound.namespace), name: textOf(bound.name) }
  const copy = related.host(ref)
  const owner = copy === undefined ? undefined : virtualRefOf(copy)
  if (owner?.tenant !== tenant.name || copy?.metadata.uid !== bound.uid) return undefined
  const claim = related.virtual(owner.ref)
  if (claim === undefined) return undefined
  const { namespace, name } = owner.ref
  const wanted: JsonObject = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    namespace,
    name,
    uid: claim.metadata.uid ?? '',
  }
  const isShown = jsonEqual([shown?.namespace, shown?.name, shown?.uid], [namespace, name, wanted.uid])
  return isShown ? undefined : patchVirtual(virtual, { spec: { claimRef: wanted } }, { rule: 'fieldsBack' })
}
