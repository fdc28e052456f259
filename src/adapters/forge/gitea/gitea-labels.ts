/** Labels by name: Gitea wants ids, drops names that it does not know, and has them per repository (`ux.md` §3). */
import { labelChanges, labelStyle } from '../our-labels.ts'
import { labelSchema } from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'
import { notGitea } from './gitea-failure.ts'

export class GiteaLabels {
  readonly #client: GiteaClient
  #ids: Map<string, number> | undefined

  constructor(client: GiteaClient) {
    this.#client = client
  }

  /** Ours come and go; those of people stay. */
  async ensure(number: number, there: readonly string[], wanted: readonly string[], signal: AbortSignal): Promise<void> {
    const { add, remove } = labelChanges(there, wanted)
    if (add.length > 0) {
      const body = { labels: await this.idsOf(add, signal) }
      await this.#client.send({ method: 'POST', path: this.#path(`/issues/${number}/labels`), body, what: 'add labels' }, signal)
    }
    for (const id of remove.length === 0 ? [] : await this.idsOf(remove, signal)) {
      await this.#client.send({ method: 'DELETE', path: this.#path(`/issues/${number}/labels/${id}`), what: 'remove a label' }, signal)
    }
  }

  /** Makes those that are not there. */
  async idsOf(names: readonly string[], signal: AbortSignal): Promise<number[]> {
    this.#ids ??= await this.#read(signal)
    const ids: number[] = []
    for (const name of names) {
      const id = this.#ids.get(name.toLowerCase()) ?? (await this.#make(name, signal))
      this.#ids.set(name.toLowerCase(), id)
      ids.push(id)
    }
    return ids
  }

  async #read(signal: AbortSignal): Promise<Map<string, number>> {
    const listed = await this.#client.list({ path: this.#path('/labels'), what: 'list labels' }, signal)
    return new Map(listed.map((item) => this.#parsed(item)).map(({ id, name }) => [name.toLowerCase(), id]))
  }

  async #make(name: string, signal: AbortSignal): Promise<number> {
    const { color, description } = labelStyle(name)
    // Of the labels with one scope before the last `/`, Gitea keeps one to an issue.
    const body = { name, color: `#${color}`, description, exclusive: name.includes('/') }
    return this.#parsed(await this.#client.send({ method: 'POST', path: this.#path('/labels'), body, what: 'make a label' }, signal)).id
  }

  #parsed(item: unknown): { readonly id: number; readonly name: string } {
    const parsed = labelSchema.safeParse(item)
    if (parsed.success) return parsed.data
    throw notGitea({ address: this.#client.address, what: 'read labels' }, 'its answer has another shape')
  }

  #path(below: string): string {
    const { owner, repository } = this.#client.address
    return `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repository)}${below}`
  }
}
