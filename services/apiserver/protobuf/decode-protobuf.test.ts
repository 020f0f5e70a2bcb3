import { describe, expect, it } from 'vitest'
import { decodeProtobuf } from './decode-protobuf.ts'

/** `kubectl create deployment x --image=a`, as kubectl 1.32 sends it. */
const DEPLOYMENT = `
  6b38 7300 0a15 0a07 6170 7073 2f76 3112 0a44 6570 6c6f 796d 656e 7412 9b01 0a1b
  0a01 7812 001a 0022 002a 0032 0038 0042 005a 080a 0361 7070 1201 7812 6e08 0112
  0a0a 080a 0361 7070 1201 781a 560a 1a0a 0012 001a 0022 002a 0032 0038 0042 005a
  080a 0361 7070 1201 7812 3812 1a0a 0161 1201 612a 0042 006a 0072 0080 0100 8801
  0090 0100 a201 001a 0032 0042 004a 0052 0058 0060 0068 0082 0100 8a01 009a 0100
  c201 0022 020a 0028 0038 001a 0c08 0010 0018 0020 0028 0038 001a 0022 00`

/** Length-delimited field. */
const field = (number: number, ...parts: (Buffer | string)[]): Buffer => {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)))
  return Buffer.concat([Buffer.of((number << 3) | 2, content.length), content])
}
const varint = (number: number, value: number): Buffer => Buffer.of(number << 3, value)
const envelope = (apiVersion: string, kind: string, ...message: Buffer[]): Buffer =>
  Buffer.concat([Buffer.from('k8s\0'), field(1, field(1, apiVersion), field(2, kind)), field(2, ...message)])

describe('decodeProtobuf', () => {
  it('reads what kubectl sends', () => {
    const object = decodeProtobuf(Buffer.from(DEPLOYMENT.replaceAll(/\s/g, ''), 'hex'))
    expect(object).toMatchObject({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'x', labels: { app: 'x' } },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'x' } },
        template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
      },
    })
    expect(object['metadata']).not.toHaveProperty('creationTimestamp')
  })

  it('reads values that are not plain: quantities, bytes, numbers or text, embedded types', () => {
    const secret = decodeProtobuf(envelope('v1', 'Secret', field(2, field(1, 'k'), field(2, 'v'))))
    expect(secret['data']).toEqual({ k: 'dg==' })
    const service = decodeProtobuf(
      envelope('v1', 'Service', field(2, field(1, varint(3, 80), field(4, varint(1, 1), field(3, 'web'))))),
    )
    expect(service['spec']).toEqual({ ports: [{ port: 80, targetPort: 'web' }] })
    const volume = field(1, field(1, 'v'), field(2, field(2, field(1, 'Memory'), field(2, field(1, '1Gi')))))
    const pod = decodeProtobuf(envelope('v1', 'Pod', field(2, volume)))
    expect(pod['spec']).toEqual({ volumes: [{ name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } }] })
  })

  it('refuses what is no object in this encoding', () => {
    expect(() => decodeProtobuf(Buffer.from('{}'))).toThrow('does not appear to be a protobuf message')
    expect(() => decodeProtobuf(envelope('v1', 'Nope'))).toThrow('no kind "Nope"')
    expect(() => decodeProtobuf(envelope('v1', 'Secret', Buffer.of(0x0a, 0x7f)))).toThrow('unexpected EOF')
  })
})
