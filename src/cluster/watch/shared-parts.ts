import type { Clock } from '@backporch/system/clock'
import type { Gate } from '@backporch/system/gate'
import type { ApiConnection } from '../connection/api-connection.ts'
import type { ReadApi } from '../connection/cluster-api.ts'
import type { Discovery } from '../objects/discovery.ts'
import type { WatchObserver } from '../ports/cluster-watch.ts'
import type { FrameMemory } from './frame-reader.ts'
import type { ServerCheck } from './server-check.ts'
import type { WatchSettings } from './watch-options.ts'

export interface SharedParts {
  readonly connection: ApiConnection
  readonly api: ReadApi
  readonly discovery: Discovery
  readonly observer: WatchObserver
  readonly clock: Clock
  readonly settings: WatchSettings
  readonly server: ServerCheck
  readonly memory: FrameMemory
  readonly lists: Gate
  readonly unstreamed: Set<string>
  readonly signal: AbortSignal
}
