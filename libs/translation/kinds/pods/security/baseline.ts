import type { JsonObject, KubeObject } from '#libs/kube-model'
import { asName, asObject, objectsIn, stringMap, textOf } from '../../../json.ts'
import { containersOf, specOf } from '../fields.ts'
import {
  type Control,
  type Finding,
  containersWhere,
  counted,
  distinct,
  hasOwnUsers,
  plural,
  quoted,
  securityContextOf,
  setters,
  uses,
} from './finding.ts'

const CAPABILITIES = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

const SELINUX_TYPES = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'])

const SYSCTLS = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
])

const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/'

export const appArmorProfile: Control = (pod) => {
  const typeOf = (holder: JsonObject): string | undefined => {
    const profile = asObject(securityContextOf(holder).appArmorProfile)
    const type = textOf(profile?.type)
    return profile === undefined || type === 'RuntimeDefault' || type === 'Localhost' ? undefined : type
  }
  const spec = specOf(pod)
  const containers = containersWhere(pod, (container) => typeOf(container) !== undefined)
  const annotations = Object.entries(stringMap(pod.metadata.annotations))
    .filter(([key, value]) => key.startsWith(APPARMOR_ANNOTATION) && !isAllowedAppArmor(value))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .toSorted()
  const types = [spec, ...containersOf(spec)].flatMap((holder) => typeOf(holder) ?? [])
  const values = [...distinct(types), ...annotations]
  const who = [...setters(typeOf(spec) !== undefined, containers), ...annotationNoun(annotations)]
  return who.length === 0
    ? undefined
    : {
        reason: plural('forbidden AppArmor profile', values),
        detail: `${who.join(' and ')} must not set AppArmor profile type to ${quoted(values)}`,
      }
}

function isAllowedAppArmor(profile: string): boolean {
  return profile === '' || profile === 'runtime/default' || profile.startsWith('localhost/')
}

function annotationNoun(annotations: readonly string[]): string[] {
  return annotations.length === 0 ? [] : [plural('annotation', annotations)]
}

export const capabilities: Control = (pod) => {
  const added = (container: JsonObject): string[] =>
    addedCapabilities(container).filter((capability) => !CAPABILITIES.has(capability))
  const containers = containersWhere(pod, (container) => added(container).length > 0)
  if (containers.length === 0) return undefined
  return {
    reason: 'non-default capabilities',
    detail: mustNotAdd(containers, containersOf(specOf(pod)).flatMap(added)),
  }
}

/** The capabilities that a container adds, whatever was put in their place taken for text. */
export function addedCapabilities(container: JsonObject): string[] {
  const add = asObject(securityContextOf(container).capabilities)?.add
  return Array.isArray(add) ? add.map(textOf) : []
}

export function mustNotAdd(containers: readonly string[], added: readonly string[]): string {
  return `${counted('container', containers)} must not include ${quoted(distinct(added))} in securityContext.capabilities.add`
}

export const hostNamespaces: Control = (pod) => {
  const spec = specOf(pod)
  const shared = ['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => spec[field] === true)
  return shared.length === 0
    ? undefined
    : { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') }
}

export const hostPathVolumes: Control = (pod) => {
  const volumes = objectsIn(specOf(pod).volumes).filter(({ hostPath }) => asObject(hostPath) !== undefined)
  const names = volumes.map(({ name }) => textOf(name))
  return names.length === 0 ? undefined : { reason: 'hostPath volumes', detail: counted('volume', names) }
}

export const hostPorts: Control = (pod) => {
  const portsOf = (container: JsonObject): string[] =>
    objectsIn(container.ports).flatMap(({ hostPort }) => (hostPort == null || hostPort === 0 ? [] : textOf(hostPort)))
  const containers = containersWhere(pod, (container) => portsOf(container).length > 0)
  if (containers.length === 0) return undefined
  const ports = distinct(containersOf(specOf(pod)).flatMap(portsOf))
  return {
    reason: 'hostPort',
    detail: `${counted('container', containers)} ${uses(containers)} ${plural('hostPort', ports)} ${ports.join(', ')}`,
  }
}

/** Probes and hooks run from the node: to other addresses than the pod's they reach what the pod itself cannot. */
export const hostProbes: Control = (pod) => {
  const hostsOf = (container: JsonObject): string[] => {
    const lifecycle = asObject(container.lifecycle)
    const handlers = [container.livenessProbe, container.readinessProbe, container.startupProbe]
    return [...handlers, lifecycle?.postStart, lifecycle?.preStop].flatMap((handler) =>
      [asObject(handler)?.httpGet, asObject(handler)?.tcpSocket].flatMap(
        (action) => asName(asObject(action)?.host) ?? [],
      ),
    )
  }
  const containers = distinct(containersWhere(pod, (container) => hostsOf(container).length > 0))
  if (containers.length === 0) return undefined
  const hosts = distinct(containersOf(specOf(pod)).flatMap(hostsOf))
  return {
    reason: 'probe or lifecycle host',
    detail: `${counted('container', containers)} ${uses(containers)} ${counted('probe or lifecycle host', hosts)}`,
  }
}

export const privileged: Control = (pod) => {
  const containers = containersWhere(pod, (container) => securityContextOf(container).privileged === true)
  return containers.length === 0
    ? undefined
    : {
        reason: 'privileged',
        detail: `${counted('container', containers)} must not set securityContext.privileged=true`,
      }
}

export const procMount: Control = (pod) => (hasOwnUsers(pod) ? undefined : maskedProc(pod))

/** The same, whatever the pod's users are. */
export function maskedProc(pod: KubeObject): Finding | undefined {
  const typeOf = (container: JsonObject): string | undefined => {
    const mount = asName(securityContextOf(container).procMount)
    return mount === 'Default' ? undefined : mount
  }
  const containers = containersWhere(pod, (container) => typeOf(container) !== undefined)
  if (containers.length === 0) return undefined
  const types = distinct(containersOf(specOf(pod)).flatMap((container) => typeOf(container) ?? []))
  return {
    reason: 'procMount',
    detail: `${counted('container', containers)} must not set securityContext.procMount to ${quoted(types)}`,
  }
}

export const seccompProfile: Control = (pod) => {
  const { who, values } = forbiddenSeccomp(pod)
  return who.length === 0 ? undefined : mustNotSetSeccomp(who, values)
}

/** Who sets a seccomp profile that is none, and which. */
export function forbiddenSeccomp(pod: KubeObject): { who: string[]; values: string[] } {
  const spec = specOf(pod)
  const isForbidden = (holder: JsonObject): boolean => {
    const type = seccompTypeOf(holder)
    return type !== undefined && !isConfinedBySeccomp(type)
  }
  const holders = [spec, ...containersOf(spec)].filter(isForbidden)
  return {
    who: setters(isForbidden(spec), containersWhere(pod, isForbidden)),
    values: distinct(holders.map((holder) => seccompTypeOf(holder) ?? '')),
  }
}

export function mustNotSetSeccomp(who: readonly string[], values: readonly string[]): Finding {
  return {
    reason: 'seccompProfile',
    detail: `${who.join(' and ')} must not set securityContext.seccompProfile.type to ${quoted(values)}`,
  }
}

/** The type of the seccomp profile that a pod or container sets, `undefined` where it sets none. */
export function seccompTypeOf(holder: JsonObject): string | undefined {
  const profile = asObject(securityContextOf(holder).seccompProfile)
  return profile === undefined ? undefined : textOf(profile.type)
}

export function isConfinedBySeccomp(type: string): boolean {
  return type === 'RuntimeDefault' || type === 'Localhost'
}

export const seLinuxOptions: Control = (pod) => {
  const optionsOf = (holder: JsonObject): JsonObject | undefined => asObject(securityContextOf(holder).seLinuxOptions)
  const isForbidden = (holder: JsonObject): boolean => {
    const options = optionsOf(holder)
    if (options === undefined) return false
    return !SELINUX_TYPES.has(textOf(options.type)) || isSet(options.user) || isSet(options.role)
  }
  const spec = specOf(pod)
  const who = setters(isForbidden(spec), containersWhere(pod, isForbidden))
  if (who.length === 0) return undefined
  const options: JsonObject[] = [spec, ...containersOf(spec)].flatMap((holder) => {
    const set = optionsOf(holder)
    return set === undefined ? [] : [set]
  })
  const types = distinct(options.map(({ type }) => textOf(type)).filter((type) => !SELINUX_TYPES.has(type)))
  const what = [
    ...(types.length === 0 ? [] : [counted('type', types)]),
    ...(options.some(({ user }) => isSet(user)) ? ['user may not be set'] : []),
    ...(options.some(({ role }) => isSet(role)) ? ['role may not be set'] : []),
  ]
  const detail = `${who.join(' and ')} set forbidden securityContext.seLinuxOptions: ${what.join('; ')}`
  return { reason: 'seLinuxOptions', detail }
}

function isSet(value: unknown): boolean {
  return textOf(value) !== ''
}

export const sysctls: Control = (pod) => {
  const names = objectsIn(securityContextOf(specOf(pod)).sysctls).map(({ name }) => textOf(name))
  const forbidden = names.filter((name) => !SYSCTLS.has(name))
  return forbidden.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: forbidden.join(', ') }
}

export const windowsHostProcess: Control = (pod) => {
  const isHostProcess = (holder: JsonObject): boolean =>
    asObject(securityContextOf(holder).windowsOptions)?.hostProcess === true
  const who = setters(isHostProcess(specOf(pod)), containersWhere(pod, isHostProcess))
  return who.length === 0
    ? undefined
    : {
        reason: 'hostProcess',
        detail: `${who.join(' and ')} must not set securityContext.windowsOptions.hostProcess=true`,
      }
}
