import { expect, test } from 'vitest'
import { planUp } from './plan.ts'

test('without anything given there are an embedded host and two embedded tenants', () => {
  expect(planUp({ tenants: [] })).toEqual({
    tenants: [
      { name: 'team-a', hostNamespace: 'causeway-team-a' },
      { name: 'team-b', hostNamespace: 'causeway-team-b' },
    ],
  })
})

test('takes real clusters from flags', () => {
  const plan = planUp({ hostKubeconfig: 'h.yaml', tenants: ['a=a.yaml,namespace=host-a', 'b=b.yaml', 'c'] })
  expect(plan).toEqual({
    hostKubeconfig: 'h.yaml',
    tenants: [
      { name: 'a', kubeconfig: 'a.yaml', hostNamespace: 'host-a' },
      { name: 'b', kubeconfig: 'b.yaml', hostNamespace: 'causeway-b' },
      { name: 'c', hostNamespace: 'causeway-c' },
    ],
  })
})

test('takes the same from a config file', () => {
  const content = {
    host: { kubeconfig: 'h.yaml' },
    tenants: [{ name: 'a', kubeconfig: 'a.yaml', namespace: 'host-a' }],
  }
  const plan = planUp({ tenants: [], config: { path: 'causeway.yaml', content } })
  expect(plan).toEqual({
    hostKubeconfig: 'h.yaml',
    tenants: [{ name: 'a', kubeconfig: 'a.yaml', hostNamespace: 'host-a' }],
  })
})

test('takes tenants’ configuration inline or from a file beside the config file', () => {
  const content = {
    tenants: [
      { name: 'a', config: { sync: { toHost: { ingresses: { enabled: true } } } } },
      { name: 'b', configFile: 'b.yaml' },
    ],
  }
  const vclusterYaml = { telemetry: { enabled: false }, sync: { toHost: { networkPolicies: { enabled: true } } } }
  const files: Record<string, unknown> = { '/etc/causeway/b.yaml': vclusterYaml }
  const config = { path: '/etc/causeway/causeway.yaml', content }
  expect(planUp({ tenants: [], config, readFile: (path) => files[path] })).toEqual({
    tenants: [
      { name: 'a', hostNamespace: 'causeway-a', config: { sync: { toHost: { ingresses: { enabled: true } } } } },
      { name: 'b', hostNamespace: 'causeway-b', config: vclusterYaml },
    ],
    notices: ['/etc/causeway/b.yaml: ignored, as it has no meaning here: telemetry'],
  })
})

test('names what is wrong with tenants’ configuration by its path in the file', () => {
  const content = {
    tenants: [
      { name: 'a', config: { sync: { toHost: { ingress: {} } } } },
      { name: 'b', config: {}, configFile: 'b.yaml' },
    ],
  }
  expect(() => planUp({ tenants: [], config: { path: 'c.yaml', content } })).toThrow(
    [
      'c.yaml: tenants[0].config.sync.toHost.ingress: is no known key; did you mean sync.toHost.ingresses?',
      'c.yaml: tenants[1].configFile: give either this or config',
    ].join('\n'),
  )
})

test.each([
  [{ tenants: ['Team_A'] }, /--tenant Team_A: .*no DNS label/],
  [{ tenants: ['a,namespace=kube-system'] }, /namespace "kube-system" is the host's own/],
  [{ tenants: ['a-x-b'] }, /contains "-x-"/],
  [{ tenants: ['a='] }, /no kubeconfig after "="/],
  [{ tenants: ['a=k,ns=x'] }, /unknown option "ns=x"/],
  [{ tenants: ['a=k,namespace=UPPER'] }, /namespace "UPPER"/],
  [{ tenants: ['a', 'a'] }, /tenant "a" is given twice/],
  [{ tenants: [], config: { path: 'c.yaml', content: [] } }, /c\.yaml: must be a mapping/],
  [
    { tenants: [], config: { path: 'c.yaml', content: { tenant: [] } } },
    /c\.yaml: tenant: unknown key; known are host, tenants/,
  ],
  [
    { tenants: [], config: { path: 'c.yaml', content: { tenants: [{ nam: 'a' }] } } },
    /tenants\[0\]\.nam: unknown key[\s\S]*tenants\[0\]\.name: is missing/,
  ],
  [
    { tenants: [], config: { path: 'c.yaml', content: { host: { kubeconfig: 3 } } } },
    /host\.kubeconfig: must be a text/,
  ],
])('names what is wrong: %j', (input, message) => {
  expect(() => planUp(input)).toThrow(message)
})

test('two tenants cannot share a host namespace, nor one have the embedded host’s name', () => {
  expect(() => planUp({ tenants: ['a,namespace=x', 'b,namespace=x'] })).toThrow(
    /tenant "b": host namespace "x" is tenant "a"'s/,
  )
  expect(() => planUp({ tenants: ['a,namespace=causeway-b', 'b'] })).toThrow(/tenant "b"/)
  expect(() => planUp({ tenants: ['host'] })).toThrow(/embedded host has this name/)
  expect(planUp({ hostKubeconfig: 'h.yaml', tenants: ['host'] }).tenants).toHaveLength(1)
})
