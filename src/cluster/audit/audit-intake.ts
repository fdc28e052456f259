/**
 * `EventList`s of `audit.k8s.io/v1` from `--audit-webhook-config-file`, in memory within limits. A
 * lost event makes an answer "not known", never wrong. No I/O here.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { getKey, isJsonArray, isJsonObject, type Json, parseJson } from '@backporch/kyaml/json'
import {
  type AuditedWrite,
  getResourceKey,
  type ResourceId,
  readAuditedWrite,
} from '@backporch/kyaml/resource'
import type { AuditAnswer, AuditSource } from '../ports/audit-source.ts'

/** Bytes. `--audit-webhook-truncate-max-batch-size` is 10 MiB by default. */
export const BODY_LIMIT = 16_777_216

export interface IntakeAnswer {
  readonly status: 200 | 400 | 401 | 413 | 415
  /** Quotes nothing from the request. */
  readonly why: string
}

interface Retained {
  readonly location: string
  readonly write: AuditedWrite
  readonly bytes: number
}

export class AuditIntake implements AuditSource {
  /** Undefined: everybody who reaches the address may send, for loopback only. */
  private readonly token: string | undefined
  private readonly named: boolean
  /** Bytes. */
  private readonly limit: number
  private retained: Retained[] = []
  private first = 0
  private bytes = 0
  private readonly byLocation = new Map<string, AuditedWrite[]>()

  constructor({
    token,
    named = false,
    limit = 67_108_864,
  }: { token: string | undefined; named?: boolean; limit?: number }) {
    this.token = token
    this.named = named
    this.limit = limit
  }

  /** By the headers alone. @returns undefined if the body must be read */
  refuseRequest(headers: {
    readonly [name: string]: string | readonly string[] | undefined
  }): IntakeAnswer | undefined {
    if (this.token !== undefined && !this.isToken(String(headers['authorization'] ?? ''))) {
      return { status: 401, why: 'the token is missing or wrong (Authorization: Bearer ...)' }
    }
    const type = String(headers['content-type'] ?? '').split(';')[0]
    if (type?.trim().toLowerCase() !== 'application/json')
      return { status: 415, why: 'the content type is not application/json' }
    return Number(headers['content-length'] ?? 0) > BODY_LIMIT ? TOO_LARGE : undefined
  }

  /** @param cluster undefined for the only one @param body undefined if longer than `BODY_LIMIT` */
  take(cluster: string | undefined, body: Buffer | undefined): IntakeAnswer {
    if (body === undefined || body.length > BODY_LIMIT) return TOO_LARGE
    if (cluster === undefined && this.named)
      return {
        status: 400,
        why: 'several clusters are observed: name this one, as in /audit/prod-eu',
      }
    let list: Json
    try {
      list = parseJson(body.toString('utf8'))
    } catch {
      return { status: 400, why: 'the body is not JSON' }
    }
    const items =
      isJsonObject(list) && getKey(list, 'kind') === 'EventList' ? getKey(list, 'items') : undefined
    if (!isJsonArray(items))
      return { status: 400, why: 'the body is not an EventList of audit.k8s.io/v1' }
    for (const item of items) {
      const write = readAuditedWrite(item)
      if (write !== undefined)
        this.keep({
          location: getLocationKey(cluster ?? '', write),
          write,
          bytes: Math.ceil(body.length / items.length),
        })
    }
    return { status: 200, why: 'ok' }
  }

  async writesTo(cluster: string, wanted: readonly ResourceId[]): Promise<AuditAnswer> {
    const writes = wanted.map((id): [string, readonly AuditedWrite[]] => {
      const locations = ['', cluster].flatMap((name) => listLocationKeys(name, id))
      const own = [...new Set(locations)].flatMap((location) => this.byLocation.get(location) ?? [])
      return [getResourceKey(id), own.toSorted((left, right) => left.answeredAt - right.answeredAt)]
    })
    return { writes: new Map(writes), notes: [] }
  }

  private isToken(given: string): boolean {
    const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
    return timingSafeEqual(hash(given), hash(`Bearer ${this.token ?? ''}`))
  }

  private keep(entry: Retained): void {
    this.retained.push(entry)
    this.bytes += entry.bytes
    const known = this.byLocation.get(entry.location)
    if (known === undefined) this.byLocation.set(entry.location, [entry.write])
    else known.push(entry.write)
    while (this.bytes > this.limit && this.first < this.retained.length) this.drop()
    if (this.first < 10_000) return
    this.retained = this.retained.slice(this.first)
    this.first = 0
  }

  private drop(): void {
    const oldest = this.retained[this.first]
    this.first += 1
    if (oldest === undefined) return
    this.bytes -= oldest.bytes
    const known = this.byLocation.get(oldest.location) ?? []
    known.shift()
    if (known.length === 0) this.byLocation.delete(oldest.location)
  }
}

const TOO_LARGE: IntakeAnswer = {
  status: 413,
  why: 'the body has more than 16 MiB: lower --audit-webhook-truncate-max-batch-size',
}

function getLocationKey(cluster: string, { object }: AuditedWrite): string {
  return `${cluster}\0${object.namespace}/${object.name}`
}

function listLocationKeys(cluster: string, { namespace, name }: ResourceId): string[] {
  const own = [`${cluster}\0${namespace}/${name}`, `${cluster}\0${namespace}/`]
  return namespace === '' ? own : [...own, `${cluster}\0/${namespace}`]
}
