/** Reread while the controller runs. */
import { convertToFailure, type Failure } from '@backporch/kyaml/failure'
import { parseLabelSelector } from '@backporch/kyaml/resource'
import { convertDurationToSeconds } from '@backporch/kyaml/text'
import type { RepositoryEntry } from '../../controller/repository-set.ts'
import type { SharedWatches } from '../../controller/shared-watch.ts'
import type { Log } from '../../ports/log.ts'
import type { ControllerContext } from '../context/cli-context.ts'
import {
  type ConfiguredRepository,
  listConfiguredClusters,
  nameOfRepository,
} from '../context/controller-config.ts'
import { parseControllerConfig } from '../context/parse-controller-config.ts'
import { type ControllerOptions, createRepositoryEntry } from './repository-entry.ts'

interface Shared {
  readonly log: Log
  readonly watches: SharedWatches
}

export class ConfigSource {
  private readonly path: string
  private readonly options: ControllerOptions
  private readonly cli: ControllerContext
  private readonly shared: Shared
  /** Last used or rejected text. */
  private decided: string | undefined
  private found: string | undefined
  /** Already reported. */
  private failing: Failure | undefined

  constructor(path: string, options: ControllerOptions, cli: ControllerContext, shared: Shared) {
    this.path = path
    this.options = options
    this.cli = cli
    this.shared = shared
  }

  /** @throws Failure BP1001 or BP1005 */
  async readFirst(): Promise<readonly RepositoryEntry[]> {
    const text = await this.cli.readConfig(this.path)
    this.decided = text
    this.found = text
    return this.createEntries(text)
  }

  /**
   * Undefined if unchanged. Two reads must find the same text, so that no half-written file is
   * used, unless `isAsked`. Reports a problem once while it lasts. Never rejects.
   */
  async readNext(isAsked = false): Promise<readonly RepositoryEntry[] | undefined> {
    try {
      const text = await this.cli.readConfig(this.path)
      const isStable = isAsked || text === this.found
      this.found = text
      if (!isStable || (text === this.decided && this.failing?.code !== 'BP1001')) return undefined
      const entries = this.createEntries(text)
      this.report(undefined)
      const isNew = text !== this.decided
      this.decided = text
      return isNew ? entries : undefined
    } catch (thrown) {
      const failure = convertToFailure(thrown)
      // An unreadable file is reread; an invalid one stays invalid until it changes.
      if (failure.code === 'BP1005') this.decided = this.found
      this.report(failure)
      return undefined
    }
  }

  private report(failure: Failure | undefined): void {
    const { failing } = this
    if (failing?.message === failure?.message) return
    this.failing = failure
    if (failing !== undefined) this.shared.log.logFailures([{ failure: failing }], 'gone')
    if (failure !== undefined) this.shared.log.logFailures([{ failure }], 'new')
  }

  private createEntries(text: string): readonly RepositoryEntry[] {
    return parseControllerConfig({ path: this.path, text }).map((repository) => {
      const { repo, packages = [] } = repository
      const named = {
        name: nameOfRepository(repo),
        text: JSON.stringify(repository),
        packages,
        clusters: listConfiguredClusters(repository),
      }
      return createRepositoryEntry(
        named,
        mergeOptions(repository, this.options),
        this.cli,
        this.shared,
      )
    })
  }
}

function mergeOptions(
  repository: ConfiguredRepository,
  options: ControllerOptions,
): ControllerOptions {
  const {
    repo,
    branch,
    forge,
    path,
    selector,
    fieldManager,
    interval,
    resyncInterval,
    preview = options.preview,
  } = repository
  const parsed = selector === undefined ? undefined : parseLabelSelector(selector)
  return {
    ...options,
    repo,
    branch,
    forge,
    path,
    selector: parsed === undefined || 'problem' in parsed ? undefined : parsed.selector,
    fieldManager,
    preview: preview === true ? true : undefined,
    interval:
      interval === undefined ? options.interval : convertDurationToSeconds(interval) * 1_000,
    resyncInterval:
      resyncInterval === undefined
        ? options.resyncInterval
        : convertDurationToSeconds(resyncInterval) * 1_000,
  }
}
