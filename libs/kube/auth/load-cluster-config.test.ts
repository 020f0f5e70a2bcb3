import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createManualClock } from '../testing/manual-clock.ts'
import { loadClusterConfig } from './load-cluster-config.ts'

const PEM = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'
const PEM_DATA = Buffer.from(PEM).toString('base64')

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'))
})
afterEach(() => rm(folder, { recursive: true }))

const clock = createManualClock()
const file = (name: string): string => join(folder, name)

async function write(name: string, text: string): Promise<string> {
  await writeFile(file(name), text)
  return file(name)
}

const kubeconfig = (options: { user?: string; cluster?: string; current?: string } = {}): string => `
apiVersion: v1
kind: Config
current-context: ${options.current ?? 'dev'}
contexts:
- {name: dev, context: {cluster: dev, user: me}}
- {name: lost, context: {cluster: nowhere, user: me}}
clusters:
- name: dev
  cluster: {server: "https://127.0.0.1:6443/clusters/team-a/"${options.cluster ?? ''}}
users:
- name: me
  user: {${options.user ?? 'token: abc'}}
`
const load = (path: string, context?: string) =>
  loadClusterConfig({ path, env: {}, clock, ...(context !== undefined && { context }) })

describe('loadClusterConfig', () => {
  test('reads server, CA and token', async () => {
    const path = await write('config', kubeconfig({ cluster: `, certificate-authority-data: ${PEM_DATA}` }))
    expect(await (await load(path)).access()).toEqual({
      server: 'https://127.0.0.1:6443/clusters/team-a',
      tls: { ca: PEM },
      headers: { authorization: 'Bearer abc' },
    })
  })

  test('reads files beside the kubeconfig', async () => {
    await write('ca.crt', PEM)
    await write('me.crt', PEM)
    await write('me.key', PEM)
    const path = await write(
      'config',
      kubeconfig({
        cluster: ', certificate-authority: ca.crt, tls-server-name: kubernetes',
        user: 'client-certificate: me.crt, client-key: me.key',
      }),
    )
    expect(await (await load(path)).access()).toMatchObject({
      tls: { ca: PEM, cert: PEM, key: PEM, servername: 'kubernetes' },
      headers: {},
    })
  })

  test('reads a token file again after a minute, and keeps the TLS material as it is', async () => {
    await write('token', 'one\n')
    const path = await write('config', kubeconfig({ user: 'tokenFile: token' }))
    const config = await load(path)
    const before = await config.access()
    await write('token', 'two\n')
    expect(await config.access()).toBe(before)
    clock.advance(60_000)
    const after = await config.access()
    expect(after.headers).toEqual({ authorization: 'Bearer two' })
    expect(after.tls).toBe(before.tls)
  })

  test('reads everything again when the server rejects or cannot be reached', async () => {
    const path = await write('config', kubeconfig())
    const config = await load(path)
    await write('config', kubeconfig({ user: 'token: xyz' }).replace('6443', '7443'))
    expect(await config.access('unreachable')).toMatchObject({ server: 'https://127.0.0.1:7443/clusters/team-a' })
    await write('config', kubeconfig({ user: 'token: third' }))
    expect((await config.access('rejected')).headers).toEqual({ authorization: 'Bearer third' })
  })

  test('keeps what it has when a file cannot be read again, except after a rejection', async () => {
    const path = await write('config', kubeconfig())
    const config = await load(path)
    await rm(path)
    expect((await config.access('unreachable')).headers).toEqual({ authorization: 'Bearer abc' })
    await expect(config.access('rejected')).rejects.toThrow(/cannot be read \(ENOENT\)/)
  })

  test('asks a credential plugin', async () => {
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'plugged' },
    }
    const plugin = await write('plugin.json', JSON.stringify(credential))
    const exec = `exec: {apiVersion: client.authentication.k8s.io/v1, command: cat, args: ["${plugin}"], interactiveMode: Never}`
    const path = await write('config', kubeconfig({ user: exec }))
    expect(await (await load(path)).access()).toMatchObject({ headers: { authorization: 'Bearer plugged' } })
  })

  test.each([
    ['is no YAML', 'a: [1\nb: 2', undefined, /not valid YAML: .* at line 2/],
    ['is empty', '', undefined, /empty, or not a kubeconfig/],
    ['has no current context', kubeconfig({ current: '""' }), undefined, /no current-context/],
    ['lacks the context', kubeconfig(), 'prod', /context "prod" is not among its contexts \(dev, lost\)/],
    ['lacks the cluster', kubeconfig(), 'lost', /names cluster "nowhere", which is not among its clusters \(dev\)/],
    [
      'has a key without a certificate',
      kubeconfig({ user: `client-key-data: ${PEM_DATA}` }),
      undefined,
      /without a client-cert/,
    ],
    [
      'names a file that is not there',
      kubeconfig({ user: 'tokenFile: no' }),
      undefined,
      /token .*no: file cannot be read \(ENOENT\)/,
    ],
    [
      'has a CA that is no PEM',
      kubeconfig({ cluster: ', certificate-authority-data: xx' }),
      undefined,
      /not base64 of PEM/,
    ],
    ['impersonates', kubeconfig({ user: 'token: a, as: root' }), undefined, /"as" \(impersonation\) is not supported/],
    [
      'goes through a proxy',
      kubeconfig({ cluster: ', proxy-url: "http://p"' }),
      undefined,
      /"proxy-url" is not supported/,
    ],
  ])('says which file %s', async (_, text, context, problem) => {
    const path = await write('config', text)
    const failure = load(path, context)
    await expect(failure).rejects.toThrow(problem)
    await expect(failure).rejects.toThrow(`kubeconfig ${path}`)
  })

  test('takes the kubeconfig from the environment', async () => {
    const path = await write('config', kubeconfig())
    const config = await loadClusterConfig({ env: { KUBECONFIG: path }, clock })
    expect(config.source).toBe(path)
    await expect(loadClusterConfig({ env: { HOME: folder }, clock })).rejects.toThrow(/no kubeconfig/)
    await expect(loadClusterConfig({ env: { KUBECONFIG: 'a:b' }, clock })).rejects.toThrow(/names 2 files/)
  })
})
