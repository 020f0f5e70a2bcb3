import { describe, expect, test } from 'vitest'
import type { JsonObject } from '#libs/kube-model'
import { podOf } from '../../../testing/index.ts'
import { judge, policyProblem } from './judge.ts'

const CONFINED = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
}

const container = (securityContext?: JsonObject, more: JsonObject = {}): JsonObject => ({
  name: 'main',
  image: 'nginx:1.27',
  ...(securityContext === undefined ? {} : { securityContext }),
  ...more,
})
const pod = (spec: JsonObject, metadata: JsonObject = {}) => podOf('web', { spec, metadata })
const withContext = (securityContext: JsonObject) => pod({ containers: [container(securityContext)] })
const confined = (more: JsonObject = {}, spec: JsonObject = {}) =>
  pod({ containers: [container({ ...CONFINED, ...more })], ...spec })
const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/main'

describe('baseline', () => {
  test.each([
    ['a plain pod', pod({})],
    ['a Localhost profile', withContext({ appArmorProfile: { type: 'Localhost', localhostProfile: 'p' } })],
    ['an annotated default profile', pod({}, { annotations: { [APPARMOR]: 'runtime/default' } })],
    ['default capabilities', withContext({ capabilities: { add: ['CHOWN', 'NET_BIND_SERVICE'] } })],
    [
      'a port without hostPort',
      pod({ containers: [container(undefined, { ports: [{ containerPort: 80, hostPort: 0 }] })] }),
    ],
    [
      'probes of the pod itself',
      pod({ containers: [container(undefined, { livenessProbe: { httpGet: { port: 1 } } })] }),
    ],
    ['a usual SELinux type', withContext({ seLinuxOptions: { type: 'container_engine_t', level: 's0' } })],
    ['safe sysctls', pod({ securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1' }] } })],
    [
      'unmasked /proc with users of its own',
      pod({ hostUsers: false, containers: [container({ procMount: 'Unmasked' })] }),
    ],
    ['root', withContext({ runAsUser: 0 })],
  ])('allows %s', (_, allowed) => {
    expect(judge(allowed, 'baseline')).toEqual([])
  })

  test.each([
    [
      'forbidden AppArmor profiles (container "main" and annotation must not set AppArmor profile type to "Unconfined", "container.apparmor.security.beta.kubernetes.io/main=\\"unconfined\\"")',
      pod(
        { containers: [container({ appArmorProfile: { type: 'Unconfined' } })] },
        { annotations: { [APPARMOR]: 'unconfined' } },
      ),
    ],
    [
      'non-default capabilities (container "main" must not include "NET_ADMIN", "SYS_TIME" in securityContext.capabilities.add)',
      withContext({ capabilities: { add: ['SYS_TIME', 'NET_ADMIN', 'CHOWN'] } }),
    ],
    ['host namespaces (hostNetwork=true, hostIPC=true)', pod({ hostNetwork: true, hostIPC: true })],
    [
      'hostPath volumes (volumes "a", "b")',
      pod({
        volumes: [
          { name: 'a', hostPath: { path: '/' } },
          { name: 'b', hostPath: {} },
        ],
      }),
    ],
    [
      'hostPort (container "main" uses hostPorts 443, 80)',
      pod({ containers: [container(undefined, { ports: [{ hostPort: 80 }, { hostPort: 443 }] })] }),
    ],
    [
      'probe or lifecycle host (container "main" uses probe or lifecycle hosts "10.0.0.1", "metadata")',
      pod({
        containers: [
          container(undefined, {
            readinessProbe: { tcpSocket: { host: '10.0.0.1', port: 1 } },
            lifecycle: { preStop: { httpGet: { host: 'metadata', port: 80 } } },
          }),
        ],
      }),
    ],
    ['privileged (container "main" must not set securityContext.privileged=true)', withContext({ privileged: true })],
    [
      'procMount (container "main" must not set securityContext.procMount to "Unmasked")',
      withContext({ procMount: 'Unmasked' }),
    ],
    [
      'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set)',
      pod({ securityContext: { seLinuxOptions: { type: 'spc_t', user: 'u' } } }),
    ],
    [
      'seccompProfile (pod and container "main" must not set securityContext.seccompProfile.type to "Unconfined")',
      pod({
        securityContext: { seccompProfile: { type: 'Unconfined' } },
        containers: [container({ seccompProfile: { type: 'Unconfined' } })],
      }),
    ],
    [
      'forbidden sysctls (kernel.msgmax)',
      pod({ securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }),
    ],
    [
      'hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)',
      pod({ securityContext: { windowsOptions: { hostProcess: true } } }),
    ],
  ])('refuses %s', (problem, refused) => {
    expect(policyProblem(refused, 'baseline')).toBe(`violates PodSecurity "baseline": ${problem}`)
    expect(policyProblem(refused, 'restricted')).toContain('violates PodSecurity "restricted": ')
    expect(policyProblem(refused, 'privileged')).toBeUndefined()
  })

  test.each(['initContainers', 'ephemeralContainers'])('looks at %s as well', (list) => {
    const problem =
      'violates PodSecurity "baseline": privileged (container "main" must not set securityContext.privileged=true)'
    expect(policyProblem(pod({ [list]: [container({ privileged: true })] }), 'baseline')).toBe(problem)
  })
})

describe('restricted', () => {
  test.each([
    ['a confined pod', confined()],
    [
      'what the pod says for its containers',
      pod({
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'Localhost' } },
        containers: [
          container({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } }),
        ],
      }),
    ],
    ['root of its own users', confined({ runAsNonRoot: false, runAsUser: 0 }, { hostUsers: false })],
    ['a pod for Windows', pod({ os: { name: 'windows' }, securityContext: { runAsNonRoot: true } })],
    [
      'volumes that hold no data of the node',
      confined(
        {},
        {
          volumes: [
            { name: 'a', image: {} },
            { name: 'b', ephemeral: {} },
          ],
        },
      ),
    ],
  ])('allows %s', (_, allowed) => {
    expect(judge(allowed, 'restricted')).toEqual([])
  })

  test('lists all that a plain pod lacks', () => {
    expect(judge(pod({}), 'restricted').map(({ reason }) => reason)).toEqual([
      'allowPrivilegeEscalation != false',
      'unrestricted capabilities',
      'runAsNonRoot != true',
      'seccompProfile',
    ])
  })

  test.each([
    [
      'unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"]; container "main" must not include "CHOWN" in securityContext.capabilities.add)',
      confined({ capabilities: { add: ['CHOWN'] } }),
    ],
    [
      'restricted volume types (volumes "a", "b" use restricted volume types "hostPath", "nfs")',
      confined(
        {},
        {
          volumes: [
            { name: 'a', nfs: {} },
            { name: 'b', hostPath: {} },
          ],
        },
      ),
    ],
    [
      'runAsNonRoot != true (container "main" must not set securityContext.runAsNonRoot=false)',
      confined({ runAsNonRoot: false }),
    ],
    ['runAsUser=0 (pod must not set runAsUser=0)', confined({}, { securityContext: { runAsUser: 0 } })],
    [
      'procMount (container "main" must not set securityContext.procMount to "Unmasked")',
      confined({ procMount: 'Unmasked' }, { hostUsers: false }),
    ],
    [
      'seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
      pod({ containers: [container({ ...CONFINED, seccompProfile: null })] }),
    ],
  ])('refuses %s', (problem, refused) => {
    expect(policyProblem(refused, 'restricted')).toBe(`violates PodSecurity "restricted": ${problem}`)
  })
})
