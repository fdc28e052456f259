import type { ForgePullRequest, HostedForge } from '@backporch/forge/hosted-forge'
import type { PackageRepository } from '@backporch/git-store/package-repository'
import { convertToFailure, Failure } from '@backporch/kyaml/failure'
import type { Preview } from '../../../record/documents/preview.ts'
import { resolveBase } from '../../repository/base-branch.ts'
import { hasPreview, isPreviewed, writePreview } from './preview-pull-request.ts'

/** So that drift waits only for these. */
const MOST_AT_ONCE = 3
/** Milliseconds. */
const LONGEST = 300_000

export interface PreviewPass {
  readonly done: readonly {
    readonly pull: ForgePullRequest
    readonly outcome: 'written' | 'nothing' | 'moved'
  }[]
  readonly failed: readonly {
    readonly pull: ForgePullRequest | undefined
    readonly failure: Failure
  }[]
  readonly more: boolean
}

interface PassPorts {
  readonly forge: HostedForge
  readonly repository: PackageRepository
  /** Short name; undefined takes the default branch. */
  readonly branch: string | undefined
  readonly version: string
  readonly preview: (pull: ForgePullRequest, signal: AbortSignal) => Promise<Preview>
  /** Milliseconds; default five minutes. */
  readonly longest?: number
}

/** The comments themselves name their subject: a restart repeats only those without one. */
export class OpenPreviews {
  private readonly known = new Map<number, string>()

  /** @throws only the reason of `signal` */
  async pass(ports: PassPorts, signal: AbortSignal): Promise<PreviewPass> {
    const { forge, repository, branch } = ports
    const [done, failed]: [PreviewPass['done'][number][], PreviewPass['failed'][number][]] = [
      [],
      [],
    ]
    try {
      const { baseBranch, base } = resolveBase(
        repository,
        await repository.listRefs(signal),
        branch,
      )
      const pulls = (await forge.readPullRequests(baseBranch, signal)).filter(isPreviewed)
      const open = new Set(pulls.map(({ number }) => number))
      for (const number of this.known.keys()) if (!open.has(number)) this.known.delete(number)
      const waiting = pulls.filter(
        ({ number, commit }) => this.known.get(number) !== `${commit} ${base}`,
      )
      let built = 0
      for (const pull of waiting) {
        if (built === MOST_AT_ONCE) return { done, failed, more: true }
        const pair = `${pull.commit} ${base}`
        try {
          if (!(await hasPreview(forge, pull, base, signal))) {
            built += 1
            const outcome = await writePreview(
              ports,
              pull,
              await previewWithin(pull, ports, signal),
              signal,
            )
            done.push({ pull, outcome })
            if (outcome === 'moved') continue
          }
          this.known.set(pull.number, pair)
        } catch (thrown) {
          signal.throwIfAborted()
          const failure = convertToFailure(thrown)
          failed.push({ pull, failure })
          // A failure that only another head or base can fix is not retried with these.
          if (failure.retry !== 'backoff') this.known.set(pull.number, pair)
        }
      }
    } catch (thrown) {
      signal.throwIfAborted()
      failed.push({ pull: undefined, failure: convertToFailure(thrown) })
    }
    return { done, failed, more: false }
  }
}

/** @throws Failure BP3006 if it takes too long; it is tried again for another head or base */
async function previewWithin(
  pull: ForgePullRequest,
  { preview, longest = LONGEST }: PassPorts,
  signal: AbortSignal,
): Promise<Preview> {
  const limit = AbortSignal.timeout(longest)
  try {
    return await preview(pull, AbortSignal.any([signal, limit]))
  } catch (thrown) {
    signal.throwIfAborted()
    if (!limit.aborted) throw thrown
    throw new Failure({
      code: 'BP3006',
      what: `the preview of ${pull.label} is not made`,
      why: `it took longer than ${longest / 1000} s`,
      remedy: 'run backporch preview for it, with a part of the packages or clusters',
      retry: 'on-change',
    })
  }
}
