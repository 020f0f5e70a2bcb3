import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { startApiserver } from '../../services/apiserver/role.ts'
import type { Apiserver } from '../../services/apiserver/role.ts'

/** Conversations recorded from a kube-apiserver, and the program that replays them; kept beside the repository. */
const REPLAYER = join(import.meta.dirname, '../../../shared/tools/kube-contract.mjs')
const KNOWN_GAPS = join(import.meta.dirname, '../fixtures/kube-contract-known-gaps.txt')

const TOPICS = [
  'apply',
  'auth',
  'controllers',
  'crd',
  'crud',
  'delete',
  'discovery',
  'kinds',
  'list',
  'names',
  'namespaces',
  'patch-json',
  'patch-merge',
  'patch-strategic',
  'pods',
  'protocol',
  'services',
  'status',
  'table',
  'watch',
]

/** Recorded without controllers, which here may have acted on an object before its table is asked for. */
const STILL = new Set(['table'])

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const isHere = existsSync(REPLAYER)

describe.skipIf(!isHere)('the recorded answers of a kube-apiserver (skipped where ../shared is not there)', () => {
  let directory: string
  let busy: Apiserver
  let still: Apiserver

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'kube-contract-'))
    const start = (name: string, controllers: boolean): Promise<Apiserver> =>
      startApiserver({
        dataDir: join(directory, name),
        clusters: { host: { controllers } },
        rootCluster: 'host',
        logger: silent,
      })
    ;[busy, still] = await Promise.all([start('busy', true), start('still', false)])
  })

  afterAll(async () => {
    await Promise.all([busy.close(), still.close()])
    rmSync(directory, { recursive: true, force: true })
  })

  it.each(TOPICS)('are given on %s', async (topic) => {
    const server = STILL.has(topic) ? still : busy
    const kubeconfig = parse(server.kubeconfig('host')) as { users: { user: { token: string } }[] }
    const token = kubeconfig.users[0]?.user.token ?? ''
    const args = [REPLAYER, '--server', server.address.url, '--token', token, '--topic', topic]
    const options = ['--needs', 'kcm,compacted,nodefaultclass', '--skip-file', KNOWN_GAPS, '--max-diff', '3']
    const { code, output } = await run([...args, ...options])
    if (code !== 0) throw new Error(output)
    expect(output).toContain('passed')
  })
})

function run(args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: 55_000, maxBuffer: 16 << 20 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr })
    })
  })
}
