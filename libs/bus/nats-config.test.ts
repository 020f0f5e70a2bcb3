import { expect, test } from 'vitest'
import { renderNatsConfig } from './nats-config.ts'

const config = {
  name: 'causeway-1',
  host: '127.0.0.1',
  port: 4222,
  storeDir: '/home/a b/.causeway/nats',
  runDir: '/home/a b/.causeway/nats',
  logFile: '/home/a b/.causeway/nats/nats-server.log',
  syncInterval: '10s',
}

test('names everything that must not be left to defaults, with paths quoted', () => {
  const text = renderNatsConfig({ ...config, version: '2.15.1' })
  expect(text).toContain('listen: "127.0.0.1:4222"')
  expect(text).toContain('store_dir: "/home/a b/.causeway/nats"')
  expect(text).toContain('limits { default_max_consumers: -1 }')
  expect(text).not.toContain('token')
})

test('leaves out what an older server does not know', () => {
  expect(renderNatsConfig({ ...config, version: '2.11.4' })).not.toContain('default_max_consumers')
})

test('lets the system choose a port, and asks for a token where there is one', () => {
  const text = renderNatsConfig({ ...config, port: 0, token: 's3cret', version: '2.15.1' })
  expect(text).toContain('listen: "127.0.0.1:-1"')
  expect(text).toContain('authorization { token: "s3cret" }')
})
