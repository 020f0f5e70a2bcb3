import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { isIPv4 } from 'node:net'
import {
  bitString,
  boolean,
  context,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  time,
  utf8String,
} from './der.ts'

/** A certificate with its key, both PEM. */
export type Credential = { certificate: string; key: string }

type Issuer = { name: string; key: KeyObject; publicKey: Buffer }

const OID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const

const DAY_MS = 86_400_000

/**
 * Makes a certificate authority and a server certificate that it signs, ECDSA P-256. The authority's key is thrown
 * away: to replace the certificate, make both anew.
 * @param options.hosts host names and IPv4 addresses of the server
 */
export function createServerCredential(options: { hosts: readonly string[]; now: number; days: number }): {
  authority: string
  server: Credential
} {
  const authorityPair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuer: Issuer = {
    name: 'causeway apiserver CA',
    key: authorityPair.privateKey,
    publicKey: exportPublic(authorityPair.publicKey),
  }
  const validity = {
    from: new Date(options.now - DAY_MS),
    to: new Date(options.now + options.days * DAY_MS),
  }
  const authority = certificate(issuer, { name: issuer.name, publicKey: issuer.publicKey, validity }, [
    extension(OID.basicConstraints, sequence(boolean(true)), true),
    // keyCertSign and cRLSign
    extension(OID.keyUsage, bitString(Buffer.of(0x06), 1), true),
  ])
  const serverPair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const publicKey = exportPublic(serverPair.publicKey)
  const server = certificate(issuer, { name: 'causeway apiserver', publicKey, validity }, [
    extension(OID.basicConstraints, sequence(), true),
    // digitalSignature
    extension(OID.keyUsage, bitString(Buffer.of(0x80), 7), true),
    extension(OID.extendedKeyUsage, sequence(objectIdentifier(OID.serverAuth))),
    extension(OID.subjectAltName, sequence(...options.hosts.map(alternativeName))),
  ])
  return {
    authority,
    server: {
      certificate: server,
      key: serverPair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    },
  }
}

const exportPublic = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' })

const keyIdentifier = (publicKey: Buffer): Buffer => createHash('sha1').update(publicKey).digest()

const nameOf = (commonName: string): Buffer =>
  sequence(setOf(sequence(objectIdentifier(OID.commonName), utf8String(commonName))))

const alternativeName = (host: string): Buffer =>
  isIPv4(host) ? context(7, Buffer.from(host.split('.').map(Number)), false) : context(2, Buffer.from(host), false)

const extension = (oid: string, value: Buffer, isCritical = false): Buffer =>
  sequence(objectIdentifier(oid), ...(isCritical ? [boolean(true)] : []), octetString(value))

function certificate(
  issuer: Issuer,
  subject: { name: string; publicKey: Buffer; validity: { from: Date; to: Date } },
  extensions: readonly Buffer[],
): string {
  const algorithm = sequence(objectIdentifier(OID.ecdsaWithSha256))
  const serial = randomBytes(16)
  serial[0] = (serial[0] ?? 0) & 0x7f || 1
  const body = sequence(
    context(0, integer(Buffer.of(2))),
    integer(serial),
    algorithm,
    nameOf(issuer.name),
    sequence(time(subject.validity.from), time(subject.validity.to)),
    nameOf(subject.name),
    subject.publicKey,
    context(
      3,
      sequence(
        ...extensions,
        extension(OID.subjectKeyIdentifier, octetString(keyIdentifier(subject.publicKey))),
        extension(OID.authorityKeyIdentifier, sequence(context(0, keyIdentifier(issuer.publicKey), false))),
      ),
    ),
  )
  const signature = sign('sha256', body, issuer.key)
  const der = sequence(body, algorithm, bitString(signature))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
