export { loadKeyRing, loadOrCreateKeyRing } from './key-ring.ts'
export type { KeyRing } from './key-ring.ts'
export { createVault } from './vault.ts'
export type { Vault } from './vault.ts'
