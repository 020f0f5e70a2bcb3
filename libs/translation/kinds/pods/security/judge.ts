import type { KubeObject } from '#libs/kube-model'
import type { TenantConfig } from '#libs/sync-config'
import * as baseline from './baseline.ts'
import type { Control, Finding } from './finding.ts'
import * as restricted from './restricted.ts'

type Standard = TenantConfig['policies']['podSecurityStandard']

/**
 * The controls of each standard, as of Kubernetes 1.35. `restricted` is `baseline` with some controls replaced by
 * stricter ones. https://kubernetes.io/docs/concepts/security/pod-security-standards/
 */
const STANDARDS: Record<Standard, readonly Control[]> = {
  privileged: [],
  baseline: [
    baseline.appArmorProfile,
    baseline.capabilities,
    baseline.hostNamespaces,
    baseline.hostPathVolumes,
    baseline.hostPorts,
    baseline.hostProbes,
    baseline.privileged,
    baseline.procMount,
    baseline.seLinuxOptions,
    baseline.seccompProfile,
    baseline.sysctls,
    baseline.windowsHostProcess,
  ],
  restricted: [
    baseline.appArmorProfile,
    baseline.hostNamespaces,
    baseline.hostPorts,
    baseline.hostProbes,
    baseline.privileged,
    baseline.maskedProc,
    baseline.seLinuxOptions,
    baseline.sysctls,
    baseline.windowsHostProcess,
    restricted.allowPrivilegeEscalation,
    restricted.droppedCapabilities,
    restricted.volumeTypes,
    restricted.runAsNonRoot,
    restricted.runAsUser,
    restricted.seccompRequired,
  ],
}

/** The controls of a standard that a pod does not keep; none when it may run. */
export function judge(pod: KubeObject, standard: Standard): Finding[] {
  return STANDARDS[standard].flatMap((control) => control(pod) ?? [])
}

/** Why the tenant's policy does not let a pod run, as a sentence. */
export function policyProblem(pod: KubeObject, standard: Standard): string | undefined {
  const findings = judge(pod, standard)
  if (findings.length === 0) return undefined
  const list = findings.map(({ reason, detail }) => `${reason} (${detail})`).join(', ')
  return `violates PodSecurity "${standard}": ${list}`
}
