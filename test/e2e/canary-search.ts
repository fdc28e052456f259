/** Looks for values that nobody may see, in every encoding, in one pass over all that was collected. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { gunzipSync, inflateSync } from 'node:zlib'

export interface Location {
  readonly where: string
  readonly content: Buffer
}

/** Bytes that are compared first; no encoding of a value is shorter. */
const SHORTEST = 8
const LONG = 32
/** Of a long value a part is looked for too: where it was cut, or broken into lines. */
const PART = 20

/** Names to the values that they stand for. */
export class CanarySearch {
  private readonly patterns = new Map<
    string,
    { readonly name: string; readonly bytes: Buffer; readonly form: string }[]
  >()
  /** By the first three bytes, whether a pattern begins so. */
  private readonly begins = new Uint8Array(1 << 24)

  constructor(canaries: ReadonlyMap<string, readonly string[]>) {
    for (const [name, values] of canaries)
      for (const value of values) for (const form of encodingsOf(value)) this.add(name, form)
  }

  /** Names of what was found, each with the places, and how it stands there. */
  find(locations: Iterable<Location>): ReadonlyMap<string, readonly string[]> {
    const found = new Map<string, Set<string>>()
    for (const { where, content } of locations) {
      for (const { name, form } of this.hits(content))
        found.set(name, (found.get(name) ?? new Set()).add(`${where} (as ${form})`))
    }
    return new Map([...found].map(([name, wheres]) => [name, [...wheres]]))
  }

  private add(name: string, form: string): void {
    const bytes = Buffer.from(form)
    if (bytes.length < SHORTEST) throw new RangeError(`${name} is too short to be looked for`)
    const key = bytes.toString('latin1', 0, SHORTEST)
    this.patterns.set(key, [...(this.patterns.get(key) ?? []), { name, bytes, form }])
    this.begins[first(bytes, 0)] = 1
  }

  private *hits(content: Buffer): Iterable<{ readonly name: string; readonly form: string }> {
    for (let at = 0; at + SHORTEST <= content.length; at += 1) {
      if (this.begins[first(content, at)] === 0) continue
      for (const pattern of this.patterns.get(content.toString('latin1', at, at + SHORTEST)) ??
        []) {
        if (
          content.compare(
            pattern.bytes,
            0,
            pattern.bytes.length,
            at,
            Math.min(at + pattern.bytes.length, content.length),
          ) === 0
        )
          yield pattern
      }
    }
  }
}

function first(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
}

/** As it is, in base64 at each of the three alignments, in hex, and as URLs, JSON (once and twice), Markdown and HTML have it. */
export function encodingsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value)
  const shifted = [0, 1, 2].map((skip) =>
    bytes.subarray(skip, skip + 3 * Math.floor((bytes.length - skip) / 3)).toString('base64'),
  )
  const base64url = shifted.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))
  const hex = bytes.toString('hex')
  const json = JSON.stringify(value).slice(1, -1)
  const twice = JSON.stringify(json).slice(1, -1)
  const markdown = value.replace(/[\\`*_{}[\]()#+\-.!|<>~]/g, '\\$&')
  const html = value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
  // Not from its beginning, where `{"auths":{` and the like are the same for all.
  const part = value.slice((2 * value.length) / 3).slice(0, PART)
  const parts = value.length >= LONG && part.length >= SHORTEST ? [part] : []
  const slashes = value.replaceAll('/', '\\/')
  return [
    ...new Set([
      value,
      ...parts,
      ...shifted,
      ...base64url,
      hex,
      hex.toUpperCase(),
      encodeURIComponent(value),
      json,
      twice,
      slashes,
      markdown,
      html,
    ]),
  ]
}

/** Every file below the folder as it is, and once more unpacked where it is packed. What git keeps is left to `gitObjects`. */
export function filesBelow(
  folder: string,
  isLeftOut: (path: string) => boolean = () => false,
): readonly Location[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return files.flatMap((entry) => {
    const where = join(entry.parentPath, entry.name)
    if (isLeftOut(where) || where.includes(`${sep}objects${sep}`)) return []
    const content = readFileSync(where)
    return [
      { where, content },
      ...unpacked(content).map((inner) => ({ where: `${where} (unpacked)`, content: inner })),
    ]
  })
}

function unpacked(content: Buffer): readonly Buffer[] {
  return [inflateSync, gunzipSync].flatMap((unpack) => {
    try {
      return [unpack(content)]
    } catch {
      return []
    }
  })
}

/** Every object of every git repository below the folder, reachable or not: the caches too. */
export function gitObjects(
  folder: string,
  isLeftOut: (id: string) => boolean = () => false,
): readonly Location[] {
  const stores = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name === 'objects',
  )
  const observed = new Set<string>()
  return stores.flatMap(({ parentPath }) => {
    const all = execFileSync(
      'git',
      ['--git-dir', parentPath, 'cat-file', '--batch-all-objects', '--batch', '--unordered'],
      {
        maxBuffer: 1 << 28,
      },
    )
    const locations: Location[] = []
    for (let at = 0; at < all.length; ) {
      const end = all.indexOf('\n', at)
      const [id = '', type = '', size = '0'] = all.toString('latin1', at, end).split(' ')
      const next = end + 1 + Number(size)
      if (!observed.has(id) && !isLeftOut(id))
        locations.push({
          where: `${type} ${id} in ${parentPath}`,
          content: all.subarray(end + 1, next),
        })
      observed.add(id)
      at = next + 1
    }
    return locations
  })
}
