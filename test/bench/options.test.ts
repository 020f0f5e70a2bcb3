import { expect, test } from 'vitest'
import { ConfigError } from '#libs/kernel'
import { parseOptions } from './options.ts'

test('without flags every scenario runs three times on embedded clusters', () => {
  expect(parseOptions([])).toMatchObject({
    scenarios: ['trickle', 'burst', 'fairness', 'isolation', 'patrol'],
    repeat: 3,
    separate: false,
    hostKubeconfig: undefined,
    tenants: [],
    burstPods: 500,
  })
})

test('flags choose the scenario, the clusters and what is accounted for', () => {
  const args = '--scenario burst --host-kubeconfig h.yaml --tenant a=t.yaml --process etcd=42 --separate'
  expect(parseOptions(args.split(' '))).toMatchObject({
    scenarios: ['burst'],
    separate: true,
    hostKubeconfig: 'h.yaml',
    tenants: [{ name: 'a', kubeconfig: 't.yaml' }],
    processes: { etcd: 42 },
  })
})

test('all problems are told at once', () => {
  const parse = (): unknown => parseOptions('--scenario flood --repeat 0 --tenant a --process nats=x'.split(' '))
  expect(parse).toThrow(ConfigError)
  expect(parse).toThrow(/flood[\s\S]*--repeat[\s\S]*--tenant a[\s\S]*--process/)
})

test('an unknown flag is a problem', () => {
  expect(() => parseOptions(['--fast'])).toThrow(ConfigError)
})
