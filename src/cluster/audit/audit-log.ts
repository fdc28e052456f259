/**
 * `--audit-log-path`, with rotated files in the same folder (`audit-2026-11-21T08-00-00.000.log`,
 * `.gz` with `--audit-log-compress`; natefinch/lumberjack). Read from its end, within limits.
 */
import { open, readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { Failure } from '@backporch/kyaml/failure'
import { type AuditedWrite, getResourceKey, type ResourceId } from '@backporch/kyaml/resource'
import type { AuditAnswer, AuditSource } from '../ports/audit-source.ts'
import { listAuditLocations, parseLine } from './audit-line.ts'
import { LogFile } from './log-file.ts'

export interface AuditLogLimits {
  readonly bytes: number
  readonly events: number
}

const LIMITS: AuditLogLimits = { bytes: 536_870_912, events: 200 }

interface Found {
  readonly path: string
  /** Device and inode, which a rotated file keeps. */
  readonly id: string
  readonly size: number
}

class AuditLog implements AuditSource {
  private readonly path: string
  private readonly limits: AuditLogLimits
  private files = new Map<string, LogFile>()
  private reading: Promise<void> | undefined

  constructor(path: string, limits: AuditLogLimits = LIMITS) {
    this.path = path
    this.limits = limits
  }

  async writesTo(
    _cluster: string,
    wanted: readonly ResourceId[],
    signal: AbortSignal,
  ): Promise<AuditAnswer> {
    // Concurrent observations share one read.
    this.reading ??= this.refresh(signal).finally(() => {
      this.reading = undefined
    })
    await this.reading
    const files = [...this.files.values()]
    const texts = new Map<string, readonly AuditedWrite[]>()
    const writes = new Map<string, readonly AuditedWrite[]>()
    for (const id of wanted) {
      const locations = listAuditLocations(id)
      for (const location of locations)
        if (!texts.has(location)) texts.set(location, await this.readLocation(files, location))
      writes.set(
        getResourceKey(id),
        locations
          .flatMap((position) => texts.get(position) ?? [])
          .sort((left, right) => left.answeredAt - right.answeredAt),
      )
    }
    const skipped = files.reduce((sum, file) => sum + file.skipped, 0)
    return {
      writes,
      notes:
        skipped === 0 ? [] : [`${skipped} lines of the audit log are too long and were not read`],
    }
  }

  private async readLocation(
    files: readonly LogFile[],
    location: string,
  ): Promise<readonly AuditedWrite[]> {
    const writes: AuditedWrite[] = []
    for (const file of files) {
      if (writes.length >= this.limits.events) break
      const lines = await file.read(location, this.limits.events - writes.length)
      writes.unshift(...lines.map(parseLine).filter((write) => write !== undefined))
    }
    return writes
  }

  private async refresh(signal: AbortSignal): Promise<void> {
    const found = await this.find()
    const files = new Map<string, LogFile>()
    let left = this.limits.bytes
    for (const { path, id, size } of found) {
      const known = this.files.get(id)
      const file =
        known === undefined || known.end > size
          ? new LogFile(path, path.endsWith('.gz') ? 0 : Math.max(0, size - left))
          : known
      if (left <= 0) break
      file.path = path
      left -= size
      if (file !== known || (!file.compressed && size > file.end)) await file.readOn(signal)
      files.set(id, file)
    }
    this.files = files
  }

  private async find(): Promise<readonly Found[]> {
    const [folder, name] = [dirname(this.path), basename(this.path)]
    const end = extname(name)
    const stem = name.slice(0, name.length - end.length)
    try {
      const current = await readLogIdentity(this.path)
      const names = await readdir(folder).catch(() => [])
      const rotated = names
        .filter(
          (other) =>
            other.startsWith(`${stem}-`) &&
            /^\d{4}-\d{2}-\d{2}T/.test(other.slice(stem.length + 1)),
        )
        .filter((other) => other.endsWith(end) || other.endsWith(`${end}.gz`))
      const older = await Promise.all(
        rotated
          .toSorted()
          .toReversed()
          .map((other) => readLogIdentity(join(folder, other)).catch(() => undefined)),
      )
      return [current, ...older.filter((one) => one !== undefined)]
    } catch (thrown) {
      throw createReadFailure(this.path, thrown)
    }
  }
}

/**
 * Reports a wrong path at the start.
 * @throws Failure BP1001
 */
export async function openAuditLog(path: string, limits?: AuditLogLimits): Promise<AuditLog> {
  try {
    if (!(await stat(path)).isFile())
      throw Object.assign(new Error('not a file'), { code: 'EISDIR' })
    await (await open(path, 'r')).close()
  } catch (thrown) {
    throw createReadFailure(path, thrown)
  }
  return new AuditLog(path, limits)
}

async function readLogIdentity(path: string): Promise<Found> {
  const { dev, ino, size } = await stat(path)
  return { path, id: `${dev} ${ino}`, size }
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EISDIR: 'it is not a file',
}

function createReadFailure(path: string, thrown: unknown): Failure {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'no'
  return new Failure({
    code: 'BP1001',
    what: 'the audit log cannot be read',
    where: path,
    why: WHY[code] ?? `the file system answered ${code}`,
    remedy:
      'give the file that the API server writes (--audit-log-path) with --audit-log, or remove the flag: then only field managers are named',
    cause: thrown,
  })
}
