/** A package of two ConfigMaps whose git, syncer and people move in any order; what a scan says of it. */
import type { Json } from '@backporch/kyaml/json'
import type { TurnCache } from '../../src/reconcile/observe/turn-cache.ts'
import type { DriftReport } from '../../src/record/documents/drift-report.ts'
import { appliedBy } from '../fakes/live-object.ts'
import { TurnWorld, yaml } from '../fakes/turn-world.ts'

export const [A, B] = ['/ConfigMap/shop/a', '/ConfigMap/shop/b']

/** Data of the two objects; an object that is left out is not there. */
export interface Content {
  readonly a?: { readonly [key: string]: string }
  readonly b?: { readonly [key: string]: string }
}

export class RolloutWorld extends TurnWorld {
  constructor(first: Content, at?: number, policy = '{mode: Propose}') {
    super(policy, {
      'apps/web/deployment.yaml': '# nothing\n',
      'apps/web/config.yaml': '# nothing\n',
    })
    this.pass(0)
    this.commit(first, at)
  }

  /** Seconds since 1970. */
  get clock(): number {
    return Date.parse(this.cluster.now) / 1000
  }

  /** Commit of the ledger's branch; undefined before the first scan. */
  get ledger(): string | undefined {
    return this.repository.branches.get('refs/heads/drift-ledger')
  }

  commit(content: Content, at = this.clock): string {
    return this.repository.commitByHand('main', filesOf(content), { at })
  }

  /** The syncer applies a content, as server-side apply leaves it; an object whose content is live already keeps its times. */
  apply(
    content: Content,
    { only, manager = this.syncer }: { readonly only?: 'a' | 'b'; readonly manager?: string } = {},
  ): void {
    for (const name of ['a', 'b'] as const) {
      if (only !== undefined && only !== name) continue
      const data = content[name]
      const key = name === 'a' ? A : B
      if (data === undefined) this.cluster.objects.delete(key)
      else if (JSON.stringify(this.cluster.objects.get(key)?.['data']) !== JSON.stringify(data))
        this.cluster.put(appliedBy(manager, yaml(manifest(name, data)), this.cluster.now))
    }
  }

  hand(key: string, field: string, value: Json): void {
    this.edit(key, field, value)
  }

  /** What a scan says: state, each change, each object that waits. */
  async observed(
    between?: TurnCache,
  ): Promise<{ state: string; changes: string[]; waits: string[]; report: DriftReport }> {
    const { report } = await this.plan(between === undefined ? {} : { between })
    const changes = report.spec.changes.map(
      ({ ref, path, change, rolledBack }) =>
        `${ref.name} ${path ?? change}${rolledBack === undefined ? '' : ' rolled back'}`,
    )
    const waits = (report.status.setAside ?? []).map(
      ({ ref, path, state }) => `${state} ${ref.name}${path === undefined ? '' : ` ${path}`}`,
    )
    return { state: report.status.state, changes, waits, report }
  }
}

export function manifest(name: string, data: { readonly [key: string]: string }): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: shop}\ndata: ${JSON.stringify(data)}\n`
}

function filesOf({ a, b }: Content): { readonly [path: string]: string | null } {
  return {
    'apps/web/a.yaml': a === undefined ? '# nothing\n' : manifest('a', a),
    'apps/web/b.yaml': b === undefined ? '# nothing\n' : manifest('b', b),
  }
}
