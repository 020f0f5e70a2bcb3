import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { parsePipelineConfig } from '#libs/config'
import { tenantNameProblem } from '#libs/translation'
import { parseApiserverConfig } from '../services/apiserver/config.ts'
import { createProgram } from '../services/cli/program.ts'
import { parseCommandLine as parseConsoleOptions } from '../services/console/options.ts'
import { parseCommandLine } from '../services/simulated-nodes/options.ts'

/*
 * No container engine is needed here: what the two files say of this project's own parts is checked against those
 * parts, so that a renamed module, flag or setting does not wait for the next user of the containers.
 */

type Service = {
  image: string
  command?: string[]
  environment?: Record<string, string>
  volumes?: string[]
  ports?: string[]
  configs?: { source: string }[]
  depends_on?: Record<string, { condition: string }>
  healthcheck?: { disable?: boolean }
}

const root = join(import.meta.dirname, '..')
const compose = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
  services: Record<string, Service>
  volumes: Record<string, unknown>
  configs: Record<string, { content: string }>
}
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')
const all = Object.entries(compose.services)
const ours = all.filter(([, service]) => service.image === 'causeway')

/** The module that a service runs, and its arguments. */
function commandOf(service: Service | undefined): { module: string; args: string[] } {
  const [module = '', ...args] = service?.command ?? []
  return { module, args }
}

test('every service of ours runs a module that exists and is in the image', () => {
  expect(ours.map(([name]) => name)).toContain('writer')
  for (const [name, service] of ours) {
    const { module } = commandOf(service)
    expect(existsSync(join(root, module)), `${name}: ${module}`).toBe(true)
    expect(dockerfile).toContain(`COPY ${module.split('/')[0]} `)
  }
})

test('the settings of the pipeline’s services are known and valid', () => {
  const configured = ours.filter(([, service]) => service.environment !== undefined)
  expect(configured.map(([name]) => name)).toEqual([
    'register',
    'watcher',
    'translator',
    'writer',
    'console',
    'simulated-nodes',
  ])
  for (const [, service] of configured) {
    expect(parsePipelineConfig(service.environment ?? {})).toMatchObject({ natsUrl: 'nats://nats:4222' })
  }
})

test('the flags of the API server are ones that it takes', () => {
  const { args } = commandOf(compose.services['apiserver'])
  const main = readFileSync(join(root, 'services/apiserver/main.ts'), 'utf8')
  const flags = Object.fromEntries(pairs(args))
  for (const flag of Object.keys(flags)) expect(main).toMatch(new RegExp(`\\b'?${flag}'?: \\{ type: 'string' \\}`))
  const config = parseApiserverConfig(flags, {})
  expect(config).toMatchObject({ host: 'apiserver', port: 6443 })
  expect(Object.keys(config.clusters)).toEqual(['host', ...registered().tenants.map(({ name }) => name)])
})

test('the flags of the simulated nodes are ones that they take', () => {
  const { args } = commandOf(compose.services['simulated-nodes'])
  expect(parseCommandLine(args)).toMatchObject({ kubeconfigPath: registered().host, nodes: 3 })
})

test('the flags of the console are ones that it takes, and its port leads out on loopback alone', () => {
  const { port } = parseConsoleOptions(commandOf(compose.services['console']).args)
  expect(compose.services['console']?.ports).toEqual([`127.0.0.1:${port}:${port}`])
})

test('the command line that registers host and tenants is one that it takes', async () => {
  const { args } = commandOf(compose.services['register'])
  expect(args[0]).toBe('register')
  // It gets as far as asking for the log, and no further. A line that it does not take ends before that, with status 2.
  const stopped = AbortSignal.abort(new Error('stopped by the test'))
  await expect(createProgram(stopped).run(args)).rejects.toThrow('stopped by the test')
  for (const { name } of registered().tenants) expect(tenantNameProblem(name)).toBeUndefined()
  const folder = new Map(pairs(commandOf(compose.services['apiserver']).args)).get('data-dir')
  expect(registered().host).toBe(`${folder}/kubeconfigs/host.yaml`)
  for (const { name, path } of registered().tenants) expect(path).toBe(`${folder}/kubeconfigs/${name}.yaml`)
})

test('whoever is registered can be read where it is needed', () => {
  const mountOf = (name: string): string[] =>
    (compose.services[name]?.volumes ?? []).flatMap((volume) => volume.split(':')[1] ?? [])
  for (const name of ['register', 'watcher', 'writer', 'simulated-nodes', 'apiserver']) {
    expect(mountOf(name).some((path) => registered().host.startsWith(`${path}/`))).toBe(true)
  }
  for (const name of ['watcher', 'translator', 'writer']) {
    const settings = parsePipelineConfig(compose.services[name]?.environment ?? {})
    expect(mountOf(name).some((path) => settings.keyRingFile.startsWith(`${path}/`))).toBe(true)
  }
})

test('volumes and configs are declared', () => {
  for (const [, service] of all) {
    const sources = (service.volumes ?? []).map((volume) => volume.split(':')[0])
    expect(Object.keys(compose.volumes)).toEqual(expect.arrayContaining(sources))
    const configs = (service.configs ?? []).map(({ source }) => source)
    expect(Object.keys(compose.configs)).toEqual(expect.arrayContaining(configs))
  }
})

test('volumes of ours are made in the image, for the user that it runs as', () => {
  const paths = ours.flatMap(([, service]) => (service.volumes ?? []).flatMap((volume) => volume.split(':')[1] ?? []))
  const made = (/mkdir -p (.*) \\/.exec(dockerfile)?.[1] ?? '').split(' ')
  expect(made).toEqual(expect.arrayContaining(paths))
})

test('services wait for ones that exist and say when they are healthy', () => {
  for (const [name, service] of all) {
    for (const [target, { condition }] of Object.entries(service.depends_on ?? {})) {
      const health = compose.services[target]?.healthcheck
      expect(health, `${name} waits for ${target}`).toBeDefined()
      expect({ condition, disabled: health?.disable }).toEqual({ condition: 'service_healthy', disabled: undefined })
    }
  }
})

test('everything that the image copies is there and not ignored', () => {
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
  const copies = [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap((match) =>
    (match[1] ?? '').split(' ').slice(0, -1),
  )
  expect(copies).toContain('libs')
  expect(copies.filter((source) => !existsSync(join(root, source)) || ignored.includes(source))).toEqual([])
})

test('the image’s Node is the one that the project runs on', () => {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>
  }
  const major = devDependencies['node']?.split('.')[0]
  for (const [, image] of dockerfile.matchAll(/^FROM (node:\S+)/gm))
    expect(image).toMatch(new RegExp(`^node:${major}-`))
})

/** Flags with their values, without the dashes. */
function pairs(args: readonly string[]): [flag: string, value: string][] {
  return args.flatMap((arg, index) => (arg.startsWith('--') ? [[arg.slice(2), args[index + 1] ?? '']] : []))
}

/** What the registration names. */
function registered(): { host: string; tenants: { name: string; path: string }[] } {
  const flags = pairs(commandOf(compose.services['register']).args)
  return {
    host: flags.find(([flag]) => flag === 'host-kubeconfig')?.[1] ?? '',
    tenants: flags
      .filter(([flag]) => flag === 'tenant')
      .map(([, text]) => ({ name: text.split('=')[0] ?? '', path: text.split('=')[1] ?? '' })),
  }
}
