/**
 * Only for Apps. A list omits the buttons, and annotations cannot be removed, so `external_id`
 * stores a run's source as `KEY.CONTENT.ANNOTATIONS` (a Backporch word and two digests).
 */
import { createHash } from 'node:crypto'
import type { ObjectId } from '@backporch/kyaml/files'
import type { RestEndpointMethodTypes } from '@octokit/rest'
import type { CheckAnnotation, CheckRun, ForgeCheckRuns } from '../ports/check-run.ts'
import type { GitHubClient } from './github-client.ts'
import { CHECK_NAME } from './requested-action.ts'

type Created = RestEndpointMethodTypes['checks']['create']['parameters']
type SentAnnotation = NonNullable<NonNullable<Created['output']>['annotations']>[number]

/** Clients list `action_required` as a failure (docs/adr/0017-check-run-buttons.md). */
const CONCLUSIONS = {
  undecided: 'neutral',
  unsure: 'neutral',
  merged: 'success',
  failed: 'failure',
  closed: 'neutral',
} as const
/** GitHub's limit per request. */
const ANNOTATIONS = 50
const PAGE = 100

interface KnownRun {
  readonly id: number
  readonly content: string
  readonly annotated: string
  readonly count: number
}

interface CheckRunIdentity {
  readonly appId: number
  granted(): Readonly<Record<string, string>> | undefined
}

export class GitHubCheckRuns implements ForgeCheckRuns {
  readonly #client: GitHubClient
  readonly #identity: CheckRunIdentity

  constructor(client: GitHubClient, identity: CheckRunIdentity) {
    this.#client = client
    this.#identity = identity
  }

  /** Writes nothing without the right, which is needed for nothing else; `check` reports it. */
  async ensureCheckRun(commit: ObjectId, run: CheckRun, signal: AbortSignal): Promise<void> {
    const what = `set the check of ${commit.slice(0, 8)}`
    await this.#client.getTarget(signal)
    if (this.#identity.granted()?.['checks'] !== 'write') return
    const there = await this.#find(commit, run.key, signal)
    const [content, annotated] = [
      computeDigest({ ...run, annotations: [] }),
      computeDigest(run.annotations),
    ]
    // GitHub only adds annotations.
    const same = there === undefined || there.count === 0 || there.annotated === annotated
    const missing = same ? run.annotations.slice(there?.count ?? 0) : []
    if (there?.content === content && missing.length === 0) return
    const { title, summary, url, buttons } = run
    const output = (from: number) => ({
      title,
      summary,
      annotations: missing.slice(from, from + ANNOTATIONS).map(convertToSent),
    })
    const whole = {
      external_id: [run.key, content, same ? annotated : there.annotated].join('.'),
      status: 'completed' as const,
      conclusion: CONCLUSIONS[run.state],
      output: output(0),
      actions: buttons.map(({ id, label, description }) => ({
        identifier: id,
        label,
        description,
      })),
      ...(url === '' ? {} : { details_url: url }),
    }
    const { checks } = this.#client.octokit.rest
    const writable = await this.#client.getWritableTarget(what, signal)
    let id = there?.id
    if (id === undefined) {
      const created = await this.#client.ask(what, () =>
        checks.create({ ...writable, name: CHECK_NAME, head_sha: commit, ...whole }),
      )
      id = created.data.id
    } else {
      const known = id
      await this.#client.ask(what, () =>
        checks.update({ ...writable, check_run_id: known, ...whole }),
      )
    }
    const known = id
    for (let from = ANNOTATIONS; from < missing.length; from += ANNOTATIONS) {
      await this.#client.ask(what, () =>
        checks.update({
          ...writable,
          check_run_id: known,
          output: output(from),
          actions: whole.actions,
        }),
      )
    }
  }

  /** The newest run, which GitHub shows. No filter decides whether one exists. */
  async #find(commit: ObjectId, key: string, signal: AbortSignal): Promise<KnownRun | undefined> {
    const { octokit } = this.#client
    const what = `read the checks of ${commit.slice(0, 8)}`
    const target = await this.#client.getTarget(signal)
    const requested = { ...target, ref: commit, per_page: PAGE }
    const found: KnownRun[] = []
    for (let page = 1; ; page += 1) {
      const { data } = await this.#client.ask(what, () =>
        octokit.rest.checks.listForRef({ ...requested, page }),
      )
      for (const { id, name, app, external_id, output } of data.check_runs) {
        if (name !== CHECK_NAME || app?.id !== this.#identity.appId) continue
        const [own, content = '', annotated = ''] = (external_id ?? '').split('.')
        if (own === key) found.push({ id, content, annotated, count: output.annotations_count })
      }
      if (data.check_runs.length < PAGE) break
    }
    return found.sort((left, right) => right.id - left.id)[0]
  }
}

function convertToSent({ path, line, level, title, message }: CheckAnnotation): SentAnnotation {
  return { path, start_line: line, end_line: line, annotation_level: level, title, message }
}

function computeDigest(value: object): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
}
