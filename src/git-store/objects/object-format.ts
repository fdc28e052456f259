/**
 * git documentation, gitformat-pack. Encoded here, so that the same draft gives the same ids on
 * every machine.
 */
import { createHash } from 'node:crypto'
import { TextDecoder } from 'node:util'
import { deflateSync } from 'node:zlib'
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import type { CommitView } from '../ports/package-repository.ts'

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'

export function isObjectType(type: string | undefined): type is ObjectType {
  return type === 'commit' || type === 'tree' || type === 'blob' || type === 'tag'
}

export interface GitObject {
  readonly id: ObjectId
  readonly type: ObjectType
  readonly content: Buffer
}

export interface TreeEntry {
  /** `40000`, `100644`, `100755`, `120000`, `160000`, or an old form. */
  readonly mode: string
  /** Latin1 bytes, because git does not define the encoding. */
  readonly name: string
  readonly id: ObjectId
}

export interface Identity {
  readonly name: string
  readonly email: string
}

interface CommitContent {
  readonly tree: ObjectId
  readonly parents: readonly ObjectId[]
  readonly identity: Identity
  /** Seconds since 1970, UTC. */
  readonly at: number
  readonly message: string
}

export const FOLDER_MODE = '40000'

export class BrokenObject extends Error {}

export function createGitObject(type: ObjectType, content: Uint8Array): GitObject {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  const id = createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest('hex')
  return { id: parseObjectId(id), type, content: bytes }
}

export function isFolder(entry: TreeEntry): boolean {
  return entry.mode === FOLDER_MODE || entry.mode === '040000'
}

/** git compares a folder as if its name ended with `/`. */
export function createTreeObject(entries: readonly TreeEntry[]): GitObject {
  const key = (entry: TreeEntry) => (isFolder(entry) ? `${entry.name}/` : entry.name)
  const sorted = [...entries].sort((left, right) => (key(left) < key(right) ? -1 : 1))
  const parts = sorted.flatMap((entry) => [
    Buffer.from(`${entry.mode} ${entry.name}\0`, 'latin1'),
    Buffer.from(entry.id, 'hex'),
  ])
  return createGitObject('tree', Buffer.concat(parts))
}

/** @throws BrokenObject if the bytes are not a tree */
export function parseTree(content: Buffer): readonly TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at)
    const end = content.indexOf(0, space)
    if (space < 0 || end < 0 || end + 21 > content.length)
      throw new BrokenObject('a tree breaks off')
    const mode = content.toString('latin1', at, space)
    if (!/^[0-7]{5,6}$/.test(mode)) throw new BrokenObject('a tree has an entry without a mode')
    entries.push({
      mode,
      name: content.toString('latin1', space + 1, end),
      id: parseObjectId(content.toString('hex', end + 1, end + 21)),
    })
    at = end + 21
  }
  return entries
}

/** Author and committer are the same, in UTC. */
export function commitObject(
  commit: CommitContent,
  sign: (content: Buffer) => Buffer = (content) => content,
): GitObject {
  const person = `${commit.identity.name} <${commit.identity.email}> ${commit.at} +0000`
  const lines = [
    `tree ${commit.tree}`,
    ...commit.parents.map((parent) => `parent ${parent}`),
    `author ${person}`,
    `committer ${person}`,
    '',
    commit.message,
  ]
  return createGitObject('commit', sign(Buffer.from(lines.join('\n'))))
}

/** @throws BrokenObject if the bytes are not a commit */
export function parseCommit(id: ObjectId, content: Buffer): CommitView {
  const cut = content.indexOf('\n\n')
  const head = (cut < 0 ? content : content.subarray(0, cut)).toString('latin1').split('\n')
  const valuesOfHeader = (name: string) =>
    head.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1))
  const decoder = createDecoder(valuesOfHeader('encoding')[0])
  const [tree = ''] = valuesOfHeader('tree')
  const personOf = (name: string) =>
    /^(.*?) ?<([^>]*)> (-?\d+) [+-]\d+$/.exec(
      decoder.decode(Buffer.from(valuesOfHeader(name)[0] ?? '', 'latin1')),
    )
  const author = personOf('author')
  const committer = personOf('committer')
  if (!/^[0-9a-f]{40}$/.test(tree)) throw new BrokenObject('a commit has no tree')
  return {
    id,
    parents: valuesOfHeader('parent').map(parseObjectId),
    tree: parseObjectId(tree),
    message: decoder.decode(cut < 0 ? Buffer.alloc(0) : content.subarray(cut + 2)),
    author: { name: author?.[1] ?? '', email: author?.[2] ?? '', at: Number(author?.[3] ?? 0) },
    committer: {
      name: committer?.[1] ?? '',
      email: committer?.[2] ?? '',
      at: Number(committer?.[3] ?? 0),
    },
  }
}

function createDecoder(encoding: string | undefined): TextDecoder {
  try {
    return new TextDecoder(encoding ?? 'utf-8', { ignoreBOM: true })
  } catch {
    return new TextDecoder('latin1')
  }
}

const PACK_TYPES: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 }

/** A version 2 pack without deltas. */
export function encodePack(objects: readonly GitObject[]): Buffer {
  const head = Buffer.alloc(12)
  head.write('PACK')
  head.writeUInt32BE(2, 4)
  head.writeUInt32BE(objects.length, 8)
  const body = Buffer.concat([
    head,
    ...objects.flatMap((object) => [encodePackedHead(object), deflateSync(object.content)]),
  ])
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}

function encodePackedHead({ type, content }: GitObject): Buffer {
  const bytes: number[] = []
  let rest = Math.floor(content.length / 16)
  let byte = (PACK_TYPES[type] << 4) | (content.length & 15)
  while (rest > 0) {
    bytes.push(byte | 0x80)
    byte = rest & 0x7f
    rest = Math.floor(rest / 128)
  }
  bytes.push(byte)
  return Buffer.from(bytes)
}

/** @throws BrokenObject if it is not a complete pack of version 2 */
export function checkPack(pack: Buffer): number {
  if (pack.length < 32 || pack.toString('latin1', 0, 4) !== 'PACK' || pack.readUInt32BE(4) !== 2)
    throw new BrokenObject('no pack came')
  const sum = createHash('sha1').update(pack.subarray(0, -20)).digest()
  if (!sum.equals(pack.subarray(-20))) throw new BrokenObject('the pack came with a wrong checksum')
  return pack.readUInt32BE(8)
}
