import type { ClusterReader } from '@backporch/cluster/cluster'
import { convertToFailure } from '@backporch/kyaml/failure'
import {
  getResourceKey,
  type LiveState,
  type LiveView,
  type ResourceId,
  type WantedObject,
} from '@backporch/kyaml/resource'
import type { Claim } from '../../syncers/syncer.ts'

export class OwnResources {
  private readonly reader: ClusterReader
  private readonly answers = new Map<string, Promise<LiveState>>()
  private readonly answeredYet = new Map<string, LiveState>()

  constructor(reader: ClusterReader) {
    this.reader = reader
  }

  /**
   * `unreadable` if the request failed.
   * @throws only the reason of `signal`
   */
  async read(claims: readonly Claim[], signal: AbortSignal): Promise<LiveView> {
    const wanted = claims.flatMap((claim) => claim.wanted)
    const each = new Map(wanted.map((one) => [getResourceKey(one.id), one]))
    const unread = [...each.values()].filter(({ id }) => !this.answers.has(getResourceKey(id)))
    if (unread.length > 0) {
      const view = this.ask(unread, signal)
      for (const { id } of unread)
        this.answers.set(
          getResourceKey(id),
          view.then((answers) => answers.get(getResourceKey(id)) ?? NOT_ANSWERED),
        )
    }
    const states = wanted.map(
      async ({ id }): Promise<[string, LiveState]> => [
        getResourceKey(id),
        (await this.answers.get(getResourceKey(id))) ?? NOT_ANSWERED,
      ],
    )
    const answers = new Map(await Promise.all(states))
    signal.throwIfAborted()
    for (const [key, state] of answers) this.answeredYet.set(key, state)
    return answers
  }

  findAnswered(id: ResourceId): LiveState | undefined {
    return this.answeredYet.get(getResourceKey(id))
  }

  /**
   * Without cached answers. `unreadable` if the request failed.
   * @throws only the reason of `signal`
   */
  async readAgain(wanted: readonly WantedObject[], signal: AbortSignal): Promise<LiveView> {
    const view = await this.ask(wanted, signal)
    signal.throwIfAborted()
    return view
  }

  private async ask(wanted: readonly WantedObject[], signal: AbortSignal): Promise<LiveView> {
    try {
      return await this.reader.readLive(wanted, signal)
    } catch (thrown) {
      const failure = convertToFailure(thrown)
      return new Map(wanted.map(({ id }) => [getResourceKey(id), { state: 'unreadable', failure }]))
    }
  }
}

export const NOT_ANSWERED: Extract<LiveState, { state: 'unreadable' }> = {
  state: 'unreadable',
  failure: convertToFailure(new Error('the cluster adapter gave no answer for a wanted object')),
}
