import { type Advertisement, RefusedService } from '../protocol/advertisement.ts'
import { type FetchRequest, type Filter, fetchPack } from '../protocol/fetch-pack.ts'
import type { GitTransport } from '../protocol/git-transport.ts'

export class PackRequests {
  #known: Advertisement | undefined
  readonly #transport: GitTransport
  readonly #filters = new Map<Filter, boolean>()

  constructor(transport: GitTransport) {
    this.#transport = transport
  }

  get known(): Advertisement | undefined {
    return this.#known
  }

  async advertise(signal: AbortSignal): Promise<Advertisement> {
    const session = await this.#transport.open('git-upload-pack', signal)
    await session.close()
    this.#known = session.advertisement
    return session.advertisement
  }

  filterFor({ capabilities }: Advertisement, filter: Filter): Filter | undefined {
    return capabilities.has('filter') && this.#filters.get(filter) !== false ? filter : undefined
  }

  async request(known: Advertisement, request: FetchRequest, signal: AbortSignal): Promise<Buffer> {
    const { filter } = request
    try {
      const pack = await this.#send(known, request, signal)
      if (filter !== undefined) this.#filters.set(filter, true)
      return pack
    } catch (thrown) {
      if (
        !(thrown instanceof RefusedService) ||
        filter === undefined ||
        this.#filters.get(filter) === true
      )
        throw thrown
      const pack = await this.request(
        known,
        { ...request, filter: filter === 'tree:0' ? 'blob:none' : undefined },
        signal,
      )
      this.#filters.set(filter, false)
      return pack
    }
  }

  async #send(known: Advertisement, request: FetchRequest, signal: AbortSignal): Promise<Buffer> {
    const session = await this.#transport.open('git-upload-pack', signal, known)
    try {
      this.#known = session.advertisement
      return await fetchPack(session, request)
    } finally {
      await session.close()
    }
  }
}
