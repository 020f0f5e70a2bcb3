import type { DeleteProof, SidedRef, Write } from '#libs/events'
import { type KubeObject, type ObjectRef, resourceToken } from '#libs/kube-model'
import type { Decision, Rule } from './decision.ts'
import type { Kind, PairInput, PairWrite } from './kind.ts'
import { hostRefOf } from './names.ts'
import { damagedStamps, isCopyOf, virtualRefOf } from './stamps.ts'
import type { View } from './view.ts'

/** A view with its kind, and the decisions in terms of its two targets. */
export class Pair {
  readonly view: View
  readonly kind: Kind
  readonly hostTarget: SidedRef
  readonly virtualTarget: SidedRef
  readonly #users: readonly Kind[]

  /** @param users kinds whose objects may refer to this one */
  constructor(view: View, kind: Kind, users: readonly Kind[]) {
    this.view = view
    this.kind = kind
    this.#users = users
    this.virtualTarget = { side: 'virtual', ...view.key }
    this.hostTarget = hostTarget(view, view.key)
  }

  /** The host copy, if it is there and carries the stamps of exactly this virtual object. */
  get copy(): KubeObject | undefined {
    const host = this.view.host.object
    return host !== undefined && isCopyOf(host, this.view.tenant, this.view.key) ? host : undefined
  }

  /** What stands in the way where the copy's name is taken by another object. */
  get nameTaken(): Extract<Decision, { kind: 'reject' }> | undefined {
    const host = this.view.host.object
    if (host === undefined || this.copy !== undefined) return undefined
    // Stamps that name another object, whose copy would have another name, are no word of ours.
    return virtualRefOf(host)?.tenant === this.view.tenant.name
      ? { kind: 'reject', reason: 'NameConflict', message: 'another of your objects has the same name on the host' }
      : { kind: 'reject', reason: 'ForeignObject', message: 'an object of the host that is not yours has this name' }
  }

  /**
   * What gives a copy its stamps back that somebody has changed. Only where its uid is that of an object known to be
   * ours: what stamps alone say, anybody can write.
   */
  get restamp(): Decision | undefined {
    const { view, kind } = this
    const host = view.host.object
    if (host === undefined || view.made === undefined || host.metadata.uid !== view.made.uid) return undefined
    // Where an object may be made anew under its copy, that copy's uid stamp follows with what else is to be put right.
    const uid = kind.lifecycle === 'pod' ? view.made.virtualUid : undefined
    const damage = damagedStamps(host, { ref: view.key, uid, tenant: view.tenant })
    if (damage === undefined) return undefined
    const { resourceVersion } = host.metadata
    const write: Write = {
      op: 'patch',
      patchType: 'merge',
      body: { metadata: damage },
      uid: view.made.uid,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    }
    return this.write(this.hostTarget, write, 'restamped')
  }

  /** Whether an object of a kind that crosses refers to this one. */
  get isUsed(): boolean {
    const users = this.#crossingUsers()
    return this.view.related.usersOf(this.view.key).some(({ resource }) => users.includes(resource))
  }

  /** Whether all objects that may refer to this one are known, so that having no user means something. */
  get areUsersKnown(): boolean {
    return this.#crossingUsers().every((resource) => this.view.related.synced('virtual', resource))
  }

  #crossingUsers(): string[] {
    const crossing = this.#users.filter((user) => user.isEnabled(this.view.tenant.config))
    return crossing.map(({ resource }) => resourceToken(resource))
  }

  deleteHost(
    host: KubeObject,
    rule: Rule,
    options: { proof: DeleteProof; gracePeriodSeconds?: number | undefined },
  ): Decision[] {
    // A second delete can only shorten the grace; a copy that is going is left alone otherwise.
    const going = host.metadata.deletionTimestamp !== undefined
    if (going && !isShorter(options.gracePeriodSeconds, host)) return []
    const { resourceVersion } = host.metadata
    const seen = this.kind.mayBeReplaced === true && resourceVersion !== undefined ? { resourceVersion } : {}
    return [this.write(this.hostTarget, { ...deletion(host, options), ...seen }, rule)]
  }

  deleteVirtual(
    virtual: KubeObject,
    rule: Rule,
    options: { proof: DeleteProof; gracePeriodSeconds?: number | undefined },
  ): Decision {
    return this.write(this.virtualTarget, deletion(virtual, options), rule)
  }

  write(target: SidedRef, write: Write, rule: Rule): Decision {
    return { kind: 'write', target, write, rule, needs: [] }
  }

  fromKind(change: PairWrite): Decision {
    return {
      kind: 'write',
      target: change.side === 'host' ? this.hostTarget : this.virtualTarget,
      write: change.write,
      rule: change.rule,
      needs: change.needs ?? [],
      ...(change.base === undefined ? {} : { base: change.base }),
      ...(change.overruled === undefined ? {} : { overruled: change.overruled }),
    }
  }

  input(virtual: KubeObject, host: KubeObject): PairInput {
    const { tenant, related, base } = this.view
    const seq = { virtual: this.view.virtual.seq, host: this.view.host.seq }
    return { virtual, host, tenant, related, seq, ...(base === undefined ? {} : { base }) }
  }
}

/** Where the copy of a virtual object is on the host. */
export function hostTarget({ tenant }: View, ref: ObjectRef): SidedRef {
  return { side: 'host', ...hostRefOf(ref, tenant) }
}

/** Whether a grace period is shorter than the one that an object is going with. */
export function isShorter(gracePeriodSeconds: number | undefined, going: KubeObject): boolean {
  const current = going.metadata.deletionGracePeriodSeconds
  return gracePeriodSeconds !== undefined && current !== undefined && gracePeriodSeconds < current
}

function deletion(
  object: KubeObject,
  { proof, gracePeriodSeconds }: { proof: DeleteProof; gracePeriodSeconds?: number | undefined },
): Write {
  return {
    op: 'delete',
    uid: object.metadata.uid ?? '',
    proof,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  }
}
