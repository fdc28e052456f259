/**
 * The beginning of a conversation: the server's capabilities and refs. Protocol version 0, which every server speaks, sends all refs at once
 * (git documentation, gitprotocol-pack, "Reference Discovery"); version 2 sends the requested ones (gitprotocol-v2, `ls-refs`).
 */
import { type ObjectId, objectId } from '@backporch/kyaml/files'
import { unsupported } from '../program/git-failure.ts'
import { type ByteReader, StreamFault } from './byte-reader.ts'
import { DELIMITER, FLUSH, pktLine, readPktLine } from './pkt-line.ts'

export interface Advertisement {
  readonly version: 0 | 2
  /** Full ref name to the object that it names: an annotated tag is the tag object. Only branches and tags. */
  readonly refs: ReadonlyMap<string, ObjectId>
  /** Annotated tag to its final object. Servers send it for fetches only. */
  readonly peeled: ReadonlyMap<string, ObjectId>
  /** Full ref name that HEAD is symbolic for; undefined where HEAD is detached or unborn. */
  readonly head: string | undefined
  /** Names without their values: `atomic`, `report-status`, `filter`; in version 2 also the features of `fetch`. */
  readonly capabilities: ReadonlySet<string>
  /** `sha1` or `sha256`. */
  readonly objectFormat: string
  /** The server's name: `git/2.39.5`, `git/github-a2dc5c1d0a34`; empty where it sends none. */
  readonly agent: string
}

/** Branches and tags, and bytes of their names: a ref takes about 500 bytes of memory besides its name. */
const MOST_REFS = 250_000
const LARGEST_NAMES = 32 * 1024 * 1024
const REF_LINE = /^([0-9a-f]{40}|[0-9a-f]{64}) ([^\0\n]+)$/
const NOTHING = /^0+$/
const PEELED = '^{}'

/** The server lists more than is kept in memory. The message is ours, as a clause. */
export class TooManyRefs extends Error {}

/** The server refuses instead of advertising. The text is the server's, untrusted. */
export class RefusedService extends Error {}

/**
 * Reads an advertisement up to its flush. `announced` is true over HTTP, where a `# service=…` section comes first; version 2 may leave it out.
 * A server of version 2 has sent no refs then: see `readRefs`.
 * @throws StreamFault when it is not one, TooManyRefs, RefusedService when the server sends an error line
 */
export async function readAdvertisement(
  reader: ByteReader,
  announced: boolean,
): Promise<Advertisement> {
  const list = new RefList()
  let capabilities: readonly string[] = []
  let line = await readPktLine(reader)
  if (line === undefined) throw new StreamFault('ended', 'no answer came')
  if (announced && !isVersion2(line)) line = await readAnnounced(reader, line)
  if (isVersion2(line)) return await readCapabilities(reader)
  for (let first = true; line !== 'flush'; first = false) {
    if (!(line instanceof Buffer)) throw new StreamFault('ended', 'the list of refs broke off')
    const [text = '', offered = ''] = line.toString('utf8').replace(/\n$/, '').split('\0')
    if (text.startsWith('ERR ')) throw new RefusedService(text.slice(4))
    if (first) capabilities = offered.split(' ').filter((word) => word !== '')
    if (!/^(?:shallow [0-9a-f]+|version 1)$/.test(text)) list.keep(text)
    line = await readPktLine(reader)
  }
  const valuesOfCapability = (name: string) =>
    capabilities
      .filter((word) => word.startsWith(`${name}=`))
      .map((word) => word.slice(name.length + 1))
  const head = valuesOfCapability('symref').find((value) => value.startsWith('HEAD:'))
  return {
    version: 0,
    refs: list.refs,
    peeled: list.peeled,
    head: head?.slice('HEAD:'.length),
    capabilities: new Set(capabilities.map((word) => word.split('=', 1)[0] ?? '')),
    objectFormat: valuesOfCapability('object-format')[0] ?? 'sha1',
    agent: valuesOfCapability('agent')[0] ?? '',
  }
}

/** @throws Failure BP4010 where the objects have other names than SHA-1 */
export function assertReadable(advertisement: Advertisement, remote: string): void {
  const { objectFormat } = advertisement
  if (objectFormat === 'sha1') return
  throw unsupported(
    remote,
    `its objects are named by ${JSON.stringify(objectFormat.slice(0, 20))}, and only SHA-1 is read`,
    'use a SHA-1 repository',
  )
}

/** Requests branches and tags alone from a server of version 2: a forge has a ref for each pull request besides. */
export function refsRequest({ capabilities }: Advertisement): readonly Buffer[] {
  const prefixes = ['HEAD', 'refs/heads/', 'refs/tags/'].map((prefix) =>
    pktLine(`ref-prefix ${prefix}\n`),
  )
  return [
    ...commandHead('ls-refs', capabilities),
    pktLine('peel\n'),
    pktLine('symrefs\n'),
    ...prefixes,
    FLUSH,
  ]
}

/** The first lines of a command of version 2. */
export function commandHead(command: string, capabilities: ReadonlySet<string>): readonly Buffer[] {
  const format = capabilities.has('object-format') ? [pktLine('object-format=sha1\n')] : []
  return [pktLine(`command=${command}\n`), pktLine('agent=git/backporch\n'), ...format, DELIMITER]
}

/** Reads the answer to `refsRequest`. @throws StreamFault, TooManyRefs, RefusedService */
export async function readRefs(reader: ByteReader, offered: Advertisement): Promise<Advertisement> {
  const list = new RefList()
  let head: string | undefined
  for (let line = await readPktLine(reader); line !== 'flush'; line = await readPktLine(reader)) {
    if (!(line instanceof Buffer)) throw new StreamFault('ended', 'the list of refs broke off')
    const text = line.toString('utf8').replace(/\n$/, '')
    if (text.startsWith('ERR ')) throw new RefusedService(text.slice(4))
    const [id = '', name = '', ...attributes] = text.split(' ')
    list.keep(`${id} ${name}`)
    const valueOfAttribute = (key: string) =>
      attributes.find((each) => each.startsWith(`${key}:`))?.slice(key.length + 1)
    const target = valueOfAttribute('peeled')
    if (target !== undefined) list.keep(`${target} ${name}${PEELED}`)
    if (name === 'HEAD') head = valueOfAttribute('symref-target')
  }
  return { ...offered, refs: list.refs, peeled: list.peeled, head }
}

function isVersion2(line: Awaited<ReturnType<typeof readPktLine>>): boolean {
  return line instanceof Buffer && line.toString('latin1').trimEnd() === 'version 2'
}

async function readCapabilities(reader: ByteReader): Promise<Advertisement> {
  const values = new Map<string, string>()
  for (let line = await readPktLine(reader); line !== 'flush'; line = await readPktLine(reader)) {
    if (!(line instanceof Buffer)) throw new StreamFault('ended', 'the answer broke off')
    const [name = '', ...value] = line.toString('utf8').trimEnd().split('=')
    values.set(name, value.join('='))
  }
  return {
    version: 2,
    refs: new Map(),
    peeled: new Map(),
    head: undefined,
    capabilities: new Set([...values.keys(), ...(values.get('fetch') ?? '').split(' ')]),
    objectFormat: values.get('object-format') ?? 'sha1',
    agent: values.get('agent') ?? '',
  }
}

/** The line after the announcement. */
async function readAnnounced(
  reader: ByteReader,
  line: Awaited<ReturnType<typeof readPktLine>>,
): ReturnType<typeof readPktLine> {
  if (!(line instanceof Buffer) || !line.toString('latin1').startsWith('# service=')) {
    throw new StreamFault('malformed', 'the answer is not in the git protocol')
  }
  if ((await readPktLine(reader)) !== 'flush')
    throw new StreamFault('malformed', 'the answer is not in the git protocol')
  return await readPktLine(reader)
}

/** Branches and tags alone: a server of version 0 lists all others too. */
export class RefList {
  readonly refs = new Map<string, ObjectId>()
  readonly peeled = new Map<string, ObjectId>()
  private bytes = 0

  /** @throws StreamFault where the line is not one of the protocol, TooManyRefs */
  keep(text: string): void {
    const [, id = '', name = ''] = REF_LINE.exec(text) ?? []
    if (id === '') throw new StreamFault('malformed', 'the list of refs is not in the git protocol')
    // An object id of SHA-256 never becomes an ObjectId; the caller refuses such a repository by its object format.
    if (id.length !== 40 || NOTHING.test(id) || !/^refs\/(?:heads|tags)\//.test(name)) return
    this.bytes += name.length
    if (this.refs.size + this.peeled.size >= MOST_REFS)
      throw new TooManyRefs(`it has more than ${MOST_REFS} branches and tags`)
    if (this.bytes > LARGEST_NAMES)
      throw new TooManyRefs(
        `the names of its branches and tags have more than ${LARGEST_NAMES / 1024 / 1024} MiB`,
      )
    if (name.endsWith(PEELED)) this.peeled.set(name.slice(0, -PEELED.length), objectId(id))
    else this.refs.set(name, objectId(id))
  }
}
