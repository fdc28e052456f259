/**
 * What a server says first: every ref with the object it names, and what it can do (git documentation, gitprotocol-pack,
 * "Reference Discovery"; protocol version 0, which every server speaks).
 */
import { type ObjectId, objectId } from '../../package/object-id.ts'
import { type ByteReader, StreamFault } from './byte-reader.ts'
import { unsupported } from './git-failure.ts'
import { readPktLine } from './pkt-line.ts'

export interface Advertisement {
  /** Full ref name to the object it names as it stands: an annotated tag is the tag object. Only `refs/…`. */
  readonly refs: ReadonlyMap<string, ObjectId>
  /** Annotated tag to the object it finally names. Servers tell it for fetches only. */
  readonly peeled: ReadonlyMap<string, ObjectId>
  /** Full ref name that HEAD is symbolic for; undefined where HEAD is detached or unborn. */
  readonly head: string | undefined
  /** Names without their values: `atomic`, `report-status`, `side-band-64k`. */
  readonly capabilities: ReadonlySet<string>
  /** `sha1` or `sha256`. */
  readonly objectFormat: string
  /** What the server calls itself: `git/2.39.5`, `git/github-a2dc5c1d0a34`; empty where it does not say. */
  readonly agent: string
}

const REF_LINE = /^([0-9a-f]{40}|[0-9a-f]{64}) ([^\0\n]+)$/
const NOTHING = /^0+$/
const PEELED = '^{}'

/** The server refuses instead of advertising. The text is the server's, untrusted. */
export class RefusedService extends Error {}

/**
 * Reads an advertisement up to its flush. `announced` is true over HTTP, where a `# service=…` section comes first.
 * @throws StreamFault when it is not one, RefusedService when the server sends an error line
 */
export async function readAdvertisement(reader: ByteReader, announced: boolean): Promise<Advertisement> {
  if (announced) await skipAnnouncement(reader)
  const refs = new Map<string, ObjectId>()
  const peeled = new Map<string, ObjectId>()
  let capabilities: readonly string[] = []
  let line = await readPktLine(reader)
  if (line === undefined) throw new StreamFault('ended', 'no answer came')
  for (let first = true; line !== 'flush'; first = false) {
    if (line === undefined) throw new StreamFault('ended', 'the list of refs broke off')
    const [text = '', offered = ''] = line.toString('utf8').replace(/\n$/, '').split('\0')
    if (text.startsWith('ERR ')) throw new RefusedService(text.slice(4))
    if (first) capabilities = offered.split(' ').filter((word) => word !== '')
    if (!/^(?:shallow [0-9a-f]+|version 1)$/.test(text)) keepRef(text, refs, peeled)
    line = await readPktLine(reader)
  }
  const valuesOfCapability = (name: string) =>
    capabilities.filter((word) => word.startsWith(`${name}=`)).map((word) => word.slice(name.length + 1))
  const head = valuesOfCapability('symref').find((value) => value.startsWith('HEAD:'))
  return {
    refs,
    peeled,
    head: head?.slice('HEAD:'.length),
    capabilities: new Set(capabilities.map((word) => word.split('=', 1)[0] ?? '')),
    objectFormat: valuesOfCapability('object-format')[0] ?? 'sha1',
    agent: valuesOfCapability('agent')[0] ?? '',
  }
}

/** @throws Failure BP4010 where the objects are named by something else than SHA-1 */
export function assertReadable(advertisement: Advertisement, remote: string): void {
  const { objectFormat } = advertisement
  if (objectFormat === 'sha1') return
  throw unsupported(
    remote,
    `its objects are named by ${JSON.stringify(objectFormat.slice(0, 20))}, and only SHA-1 is read`,
    'use a SHA-1 repository',
  )
}

async function skipAnnouncement(reader: ByteReader): Promise<void> {
  const line = await readPktLine(reader)
  if (line === undefined || line === 'flush' || !line.toString('latin1').startsWith('# service=')) {
    throw new StreamFault('malformed', 'the answer is not in the git protocol')
  }
  if ((await readPktLine(reader)) !== 'flush') throw new StreamFault('malformed', 'the answer is not in the git protocol')
}

function keepRef(text: string, refs: Map<string, ObjectId>, peeled: Map<string, ObjectId>): void {
  const [, id = '', name = ''] = REF_LINE.exec(text) ?? []
  if (id === '') throw new StreamFault('malformed', 'the list of refs is not in the git protocol')
  // An object id of SHA-256 never becomes an ObjectId; the caller refuses such a repository by its object format.
  if (id.length !== 40 || NOTHING.test(id) || !name.startsWith('refs/')) return
  if (name.endsWith(PEELED)) peeled.set(name.slice(0, -PEELED.length), objectId(id))
  else refs.set(name, objectId(id))
}
