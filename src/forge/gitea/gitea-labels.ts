/**
 * Gitea silently drops unknown names, removes by id, and may have two labels of one name
 * (`docs/facts/gitea-api.md`).
 */
import { createRefusedRequest } from '../adapter/forge-failure.ts'
import { labelChanges, labelStyle } from '../adapter/our-labels.ts'
import { labelSchema } from './gitea-answers.ts'
import type { GiteaClient } from './gitea-client.ts'

export class GiteaLabels {
  readonly #client: GiteaClient
  #ids: Map<string, number> | undefined

  constructor(client: GiteaClient) {
    this.#client = client
  }

  async ensure(
    number: number,
    there: readonly string[],
    wanted: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const { add, remove } = labelChanges(there, wanted)
    if (add.length > 0) await this.#add(number, add, signal)
    if (remove.length === 0) return
    // Another label may have the same name.
    const gone = new Set(remove.map((name) => name.toLowerCase()))
    const path = this.#client.buildPath(`/issues/${number}/labels`)
    const now =
      (await this.#client.get(
        { path, what: 'read the labels of an issue' },
        labelSchema.array().nullable(),
        signal,
      )) ?? []
    for (const { id, name } of now) {
      if (!gone.has(name.toLowerCase())) continue
      await this.#client.send(
        { method: 'DELETE', path: `${path}/${id}`, what: 'remove a label' },
        signal,
      )
    }
  }

  /** Gitea silently drops the id of a deleted label, so the answer is compared. */
  async #add(number: number, names: readonly string[], signal: AbortSignal): Promise<void> {
    const what = 'add labels'
    let missing = names
    for (let attempt = 0; attempt < 2 && missing.length > 0; attempt += 1) {
      if (attempt > 0) this.#ids = undefined
      const body = { labels: await this.#listIds(missing, signal) }
      const answer = await this.#client.send(
        { method: 'POST', path: this.#client.buildPath(`/issues/${number}/labels`), body, what },
        signal,
      )
      const now = new Set(
        this.#client
          .parse(answer ?? [], labelSchema.array(), what)
          .map(({ name }) => name.toLowerCase()),
      )
      missing = missing.filter((name) => !now.has(name.toLowerCase()))
    }
    if (missing.length === 0) return
    const why = `${missing.join(', ')} cannot be put on #${number}`
    throw createRefusedRequest(
      { address: this.#client.address, what },
      why,
      'check the labels of the repository',
    )
  }

  async #listIds(names: readonly string[], signal: AbortSignal): Promise<number[]> {
    this.#ids ??= await this.#read(signal)
    const ids: number[] = []
    for (const name of names) {
      const id = this.#ids.get(name.toLowerCase()) ?? (await this.#make(name, signal))
      this.#ids.set(name.toLowerCase(), id)
      ids.push(id)
    }
    return ids
  }

  /** The older of two with one name, so that everybody uses the same. */
  async #read(signal: AbortSignal): Promise<Map<string, number>> {
    const listed = await this.#client.getAll(
      { path: this.#client.buildPath('/labels'), what: 'list labels' },
      labelSchema,
      signal,
    )
    return new Map(
      listed
        .toSorted((left, right) => right.id - left.id)
        .map(({ id, name }) => [name.toLowerCase(), id]),
    )
  }

  async #make(name: string, signal: AbortSignal): Promise<number> {
    const what = 'make a label'
    const { color, description } = labelStyle(name)
    // One label per scope (the text before the last `/`).
    const body = { name, color: `#${color}`, description, exclusive: name.includes('/') }
    const answer = await this.#client.send(
      { method: 'POST', path: this.#client.buildPath('/labels'), body, what },
      signal,
    )
    const { id } = this.#client.parse(answer, labelSchema, what)
    // Another process may have created it too: the older one stays.
    const first = (await this.#read(signal)).get(name.toLowerCase()) ?? id
    if (first !== id)
      await this.#client.send(
        { method: 'DELETE', path: this.#client.buildPath(`/labels/${id}`), what: 'remove a label' },
        signal,
      )
    return first
  }
}
