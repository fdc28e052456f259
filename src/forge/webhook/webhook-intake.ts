/**
 * Only the change and the button click are trusted, so a lost, repeated, forged or late webhook
 * changes only when a turn starts (reliability.md P27). A lost click does nothing, a repeated one
 * has the same id (docs/adr/0017). No I/O here.
 */
import { createHash } from 'node:crypto'
import { getOwnKey, parseRequestedAction } from '../github/requested-action.ts'
import type { RequestedAction } from '../ports/check-run.ts'
import { ALL_FORGES } from '../registry/forges.ts'
import { findSignature, SignatureCheck, type WebhookHeaders } from './webhook-signature.ts'
import type { DeliveryWindow } from './webhook-window.ts'

/** `ignored`: validly signed but irrelevant. `refused`: the sender's error. */
export interface WebhookAnswer {
  readonly status: 202 | 400 | 401 | 413 | 415
  readonly updates: 'look' | 'ignored' | 'refused'
  readonly why: string
  readonly requestedAction?: RequestedAction
  readonly repository?: string
}

interface WebhookIntakeOptions {
  readonly secrets: readonly string[]
  /** `owner/name`; undefined accepts every repository. */
  readonly repository: string | undefined
  readonly window: DeliveryWindow
}

/** Bytes: GitHub's maximum (docs.github.com, "Webhook events and payloads"). */
export const BODY_LIMIT = 25_000_000
/** Bytes. A larger body is only checked against its signature, and means "look". */
const KEPT_OF_ONE = 1_048_576
/** Bytes. */
const KEPT_OF_ALL = 16_777_216
/** Bytes: a body in one-byte chunks is not small. */
const PIECE = 256

/** In GitHub's and Gitea's names (docs/facts/gitea-api.md). */
const EVENTS: ReadonlySet<string> = new Set([
  'push',
  'create',
  'delete',
  'pull_request',
  'pull_request_review',
  'pull_request_approved',
  'pull_request_rejected',
  'pull_request_comment',
  'issue_comment',
  'merge_group',
  'issues',
  'repository',
])
/** Also sent for the checks of other Apps: only a Backporch button counts. */
const CHECK_EVENT = 'check_run'

export class WebhookIntake {
  readonly options: WebhookIntakeOptions
  /** Bytes. */
  held = 0

  constructor(options: WebhookIntakeOptions) {
    this.options = options
  }

  begin(headers: WebhookHeaders): WebhookReading | WebhookAnswer {
    const signature = findSignature(headers)
    if (signature === undefined)
      return createRefusedAnswer(401, 'the signature is missing or malformed (X-Hub-Signature-256)')
    const event = getHeaderWord(headers, 'events')
    if (event === undefined)
      return createRefusedAnswer(400, 'the event is missing (X-GitHub-Event)')
    const type = String(headers['content-type'] ?? '').split(';')[0]
    if (type?.trim().toLowerCase() !== 'application/json') {
      return createRefusedAnswer(
        415,
        'the content type is not application/json: choose it in the settings of the webhook',
      )
    }
    if (!['', 'identity'].includes(String(headers['content-encoding'] ?? '')))
      return createRefusedAnswer(415, 'compressed bodies are not read')
    if (Number(headers['content-length'] ?? 0) >= BODY_LIMIT) return TOO_LARGE
    return new WebhookReading(this, {
      signature,
      event,
      delivery: getHeaderWord(headers, 'deliveries'),
    })
  }
}

interface WebhookHead {
  readonly signature: Buffer
  readonly event: string
  readonly delivery: string | undefined
}

/** The caller always calls `close`. */
export class WebhookReading {
  private readonly intake: WebhookIntake
  private readonly head: WebhookHead
  private readonly check: SignatureCheck
  private bytes = 0
  private retained: Uint8Array[] | undefined = []
  private held = 0

  constructor(intake: WebhookIntake, head: WebhookHead) {
    this.intake = intake
    this.head = head
    this.check = new SignatureCheck(intake.options.secrets)
  }

  add(chunk: Uint8Array): WebhookAnswer | undefined {
    this.bytes += chunk.length
    if (this.bytes >= BODY_LIMIT) {
      this.close()
      return TOO_LARGE
    }
    this.check.update(chunk)
    if (this.retained === undefined) return undefined
    const cost = chunk.length + PIECE
    this.retained.push(chunk)
    this.held += cost
    this.intake.held += cost
    if (this.held > KEPT_OF_ONE || this.intake.held > KEPT_OF_ALL) this.close()
    return undefined
  }

  /** Once. `now` in milliseconds. */
  end(now: number): WebhookAnswer {
    const body = this.retained === undefined ? undefined : Buffer.concat(this.retained)
    this.close()
    const { signature, event, delivery } = this.head
    if (!this.check.matches(signature))
      return createRefusedAnswer(401, 'the signature is not that of the body with the secret')
    const { repository, window } = this.intake.options
    // Headers are not signed: a body may be resent under another id.
    const names = [
      `signature ${computeHash(signature)}`,
      ...(delivery === undefined ? [] : [`delivery ${delivery}`]),
    ]
    if (!window.isNew(names, now)) return createIgnoredAnswer('this delivery was received before')
    if (!EVENTS.has(event) && event !== CHECK_EVENT)
      return createIgnoredAnswer('the event is not relevant')
    if (body === undefined) return OBSERVE
    const value = parseBody(body)
    const named = getOwnKey(getOwnKey(value, 'repository'), 'full_name')
    if (typeof named !== 'string') return createIgnoredAnswer('the body names no repository')
    if (repository !== undefined && named.toLowerCase() !== repository.toLowerCase())
      return createIgnoredAnswer('the event is of another repository')
    if (event !== CHECK_EVENT) return { ...OBSERVE, repository: named }
    const requestedAction = parseRequestedAction(value)
    if (requestedAction === undefined)
      return createIgnoredAnswer('no button of backporch was pressed')
    // A delivery's id is an unsigned header.
    const id = `press-${createHash('sha256').update(signature).digest('hex').slice(0, 16)}`
    return {
      ...OBSERVE,
      repository: named,
      requestedAction: {
        ...requestedAction,
        id,
        at: `${new Date(now).toISOString().slice(0, 19)}Z`,
      },
    }
  }

  close(): void {
    this.intake.held -= this.held
    this.held = 0
    this.retained = undefined
  }
}

const OBSERVE: WebhookAnswer = { status: 202, updates: 'look', why: 'accepted' }
const TOO_LARGE = createRefusedAnswer(413, 'the body has 25 MB or more')

function createRefusedAnswer(status: WebhookAnswer['status'], why: string): WebhookAnswer {
  return { status, updates: 'refused', why }
}

function createIgnoredAnswer(why: string): WebhookAnswer {
  return { status: 202, updates: 'ignored', why }
}

function getHeaderWord(headers: WebhookHeaders, kind: 'events' | 'deliveries'): string | undefined {
  const words = ALL_FORGES.flatMap(({ webhook }) => webhook[kind]).map((name) => headers[name])
  return words.find(
    (word): word is string => typeof word === 'string' && /^[\w-]{1,100}$/.test(word),
  )
}

function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** A printed window contains nothing that could be resent. */
function computeHash(signature: Buffer): string {
  return createHash('sha256').update(signature).digest('base64')
}
