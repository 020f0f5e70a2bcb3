import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findKubectl } from '../../deploy/lib/find-kubectl.mjs'
import { type CommandResult, newFolder } from '../harness/installation.ts'
import { unique } from '../harness/objects.ts'
import { startProgram } from '../harness/process.ts'
import { MODES, type World, openWorld } from '../harness/world.ts'

const kubectlPath = await findKubectl()

const CONFIG = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { color: 'blue' } }

describe.skipIf(kubectlPath === undefined).each(MODES)(
  'kubectl (skipped where there is none), $mode',
  ({ separate }) => {
    let world: World
    let namespace: string
    let cache: string
    beforeAll(async () => {
      cache = newFolder()
      world = await openWorld({ separate })
      namespace = await world.tenants[0].namespace(unique('kubectl'))
    })
    afterAll(async () => {
      await world?.close()
      rmSync(cache, { recursive: true, force: true })
    })

    const kubectl = async (args: string[], input?: string): Promise<CommandResult> => {
      const { kubeconfig } = world.tenants[0].cluster
      const place = ['--kubeconfig', kubeconfig, '--cache-dir', join(cache, 'discovery'), '-n', namespace]
      const child = startProgram(kubectlPath ?? '', [...place, ...args], input === undefined ? {} : { input })
      const { code } = await child.exited
      return { code, stdout: child.stdout(), stderr: child.stderr() }
    }
    const succeed = async (args: string[], input?: string): Promise<string> => {
      const { code, stdout, stderr } = await kubectl(args, input)
      if (code !== 0) throw new Error(`kubectl ${args.join(' ')} failed: ${stderr}`)
      return stdout
    }

    test('a deployment is created, awaited, scaled, described, labelled and deleted', async () => {
      await succeed(['create', 'deployment', 'web', '--image=nginx', '--replicas=2'])
      await succeed(['wait', '--for=condition=Available', 'deployment/web', '--timeout=30s'])
      await succeed(['rollout', 'status', 'deployment/web', '--timeout=30s'])
      const table = await succeed(['get', 'pods', '-o', 'wide'])
      expect(table.match(/1\/1 +Running/g)).toHaveLength(2)
      expect(await succeed(['get', 'deployment', 'web'])).toMatch(/web +2\/2/)

      await succeed(['scale', 'deployment', 'web', '--replicas=3'])
      await succeed(['wait', '--for=jsonpath={.status.availableReplicas}=3', 'deployment/web', '--timeout=30s'])
      await succeed(['scale', 'deployment', 'web', '--replicas=1'])
      const pods = await world.tenants[0].cluster.untilAll('pods', namespace, (found) => found.length === 1)
      const name = pods[0]?.metadata.name ?? ''

      await succeed(['label', 'pod', name, 'tier=front'])
      const copy = world.tenants[0].copyOf({ namespace, name })
      await world.host.until('pods', copy, ({ metadata }) => metadata.labels?.['tier'] === 'front')
      const described = await succeed(['describe', 'pod', name])
      expect(described).toMatch(/Status: +Running/)
      expect(described).toMatch(/tier=front/)
      expect(await succeed(['describe', 'deployment', 'web'])).toContain('1 available')
      await succeed(['delete', 'deployment', 'web'])
      await succeed(['wait', '--for=delete', `pod/${name}`, '--timeout=30s'])
      expect(await world.host.find('pods', copy)).toBeUndefined()
    })

    test('objects are applied, changed by a second apply, and deleted', async () => {
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'app' },
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [{ name: 'main', image: 'nginx', envFrom: [{ configMapRef: { name: 'settings' } }] }],
        },
      }
      const list = { apiVersion: 'v1', kind: 'List', items: [CONFIG, pod] }
      await succeed(['apply', '-f', '-'], JSON.stringify(list))
      await succeed(['wait', '--for=condition=Ready', 'pod/app', '--timeout=30s'])
      expect(await succeed(['apply', '-f', '-'], JSON.stringify(list))).toContain('pod/app unchanged')
      const changed = { ...CONFIG, data: { color: 'red' } }
      expect(await succeed(['apply', '-f', '-'], JSON.stringify(changed))).toContain('configmap/settings configured')
      const copy = world.tenants[0].copyOf({ namespace, name: 'settings' })
      await world.host.until('configmaps', copy, ({ data }) => (data as { color?: string }).color === 'red')
      await succeed(['delete', 'pod/app', 'configmap/settings'])
      expect(await succeed(['get', 'pods', '-o', 'name'])).toBe('')
      await world.host.untilGone('configmaps', copy)
    })

    test('what is not there is said to be not there', async () => {
      const { code, stderr } = await kubectl(['get', 'pod', 'nothing'])
      expect(code).toBe(1)
      expect(stderr).toContain('pods "nothing" not found')
    })
  },
)
