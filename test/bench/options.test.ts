import { expect, test } from 'vitest'
import { ConfigError } from '#libs/kernel'
import { parseOptions } from './options.ts'
import { FULL } from './scales.ts'

test('without flags every scenario runs three times on embedded clusters', () => {
  const options = parseOptions([])
  expect(options).toMatchObject({ repeat: 3, separate: false, hostKubeconfig: undefined, tenants: [] })
  expect(options.scenarios).toEqual(expect.arrayContaining(['trickle', 'burst', 'fairness', 'restart', 'fleet']))
})

test('flags choose the scenarios, the clusters and what is accounted for', () => {
  const args = '--scenario churn,burst --scenario patrol --host-kubeconfig h.yaml --tenant a=t.yaml --process etcd=42'
  expect(parseOptions([...args.split(' '), '--separate', '--json', 'out.json'])).toMatchObject({
    scenarios: ['patrol', 'burst', 'churn'],
    separate: true,
    hostKubeconfig: 'h.yaml',
    tenants: [{ name: 'a', kubeconfig: 't.yaml' }],
    processes: { etcd: 42 },
    json: 'out.json',
  })
})

test('sizes are those of a scale but for what is given', () => {
  expect(parseOptions('--full --restart-pods 7 --burst 2x3 --burst 4x5'.split(' '))).toMatchObject({
    ...FULL,
    restartPods: 7,
    bursts: [
      { tenants: 2, pods: 3 },
      { tenants: 4, pods: 5 },
    ],
  })
})

test('all problems are told at once', () => {
  const args = '--scenario flood --repeat 0 --tenant a --process nats=x --burst 5 --full --smoke'
  const parse = (): unknown => parseOptions(args.split(' '))
  expect(parse).toThrow(ConfigError)
  expect(parse).toThrow(/--burst 5[\s\S]*flood[\s\S]*--tenant a[\s\S]*--process/)
  expect(parse).toThrow(/--full and --smoke[\s\S]*--repeat/)
})

test('an unknown flag is a problem', () => {
  expect(() => parseOptions(['--fast'])).toThrow(ConfigError)
})
