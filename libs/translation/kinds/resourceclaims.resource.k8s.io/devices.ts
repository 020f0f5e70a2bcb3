import type { JsonObject } from '#libs/kube-model'
import { isShown } from '../../classes.ts'
import { asName, asObject, objectsIn } from '../../json.ts'
import type { TranslateInput } from '../../kind.ts'

/**
 * The device class that a claim asks for and that the tenant is not shown, as a sentence. Classes are the host's: where
 * they are not mirrored at all, the tenant knows them by name.
 */
export function unknownDeviceClass(spec: JsonObject | undefined, input: TranslateInput): string | undefined {
  const { enabled, selector } = input.tenant.config.sync.fromHost.deviceClasses
  if (!enabled) return undefined
  const name = deviceClasses(spec).find(
    (each) => !isShown({ resource: 'deviceclasses.resource.k8s.io', namespace: '', name: each }, selector, input),
  )
  return name === undefined ? undefined : `there is no DeviceClass "${name}"`
}

/** Every class that a claim's spec names: requests name one, or several to choose from. */
function deviceClasses(spec: JsonObject | undefined): string[] {
  const requests = objectsIn(asObject(spec?.devices)?.requests)
  const alternatives = requests.flatMap((request) => [
    request,
    asObject(request.exactly) ?? {},
    ...objectsIn(request.firstAvailable),
  ])
  return alternatives.flatMap(({ deviceClassName }) => asName(deviceClassName) ?? [])
}
