/**
 * Protocol version 0, which every server speaks, sends all refs at once (git documentation,
 * gitprotocol-pack, "Reference Discovery"); version 2 the requested ones (gitprotocol-v2,
 * `ls-refs`).
 */
import { type ObjectId, parseObjectId } from '@backporch/kyaml/files'
import { createUnsupportedFailure } from '../program/git-failure.ts'
import { type ByteReader, StreamFault } from './byte-reader.ts'
import { DELIMITER, encodePktLine, FLUSH, readPktLine } from './pkt-line.ts'

export interface Advertisement {
  readonly version: 0 | 2
  /** Only branches and tags; of an annotated tag the tag object. */
  readonly refs: ReadonlyMap<string, ObjectId>
  readonly peeled: ReadonlyMap<string, ObjectId>
  readonly head: string | undefined
  /** Names without values; in version 2 also the features of `fetch`. */
  readonly capabilities: ReadonlySet<string>
  /** `sha1` or `sha256`. */
  readonly objectFormat: string
  /** The server's name: `git/2.39.5`, `git/github-a2dc5c1d0a34`; undefined if not sent. */
  readonly agent: string | undefined
}

/** A ref takes about 500 bytes of memory in addition to its name. */
const MOST_REFS = 250_000
const LARGEST_NAMES = 32 * 1024 * 1024
const REF_LINE = /^([0-9a-f]{40}|[0-9a-f]{64}) ([^\0\n]+)$/
const NOTHING = /^0+$/
const PEELED = '^{}'

/** The message is a clause. */
export class TooManyRefs extends Error {}

/** The text is the server's, untrusted. */
export class RefusedService extends Error {}

/**
 * `announced` is true over HTTP, where a `# service=…` section comes first; version 2 may omit it.
 * A version 2 server has not sent refs yet: see `readRefs`.
 * @throws StreamFault when it is not an advertisement, TooManyRefs, RefusedService when the server
 * sends an error line
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
    agent: valuesOfCapability('agent')[0],
  }
}

/** @throws Failure BP4010 if object names are not SHA-1 */
export function assertReadable(advertisement: Advertisement, remote: string): void {
  const { objectFormat } = advertisement
  if (objectFormat === 'sha1') return
  throw createUnsupportedFailure(
    remote,
    `its objects are named by ${JSON.stringify(objectFormat.slice(0, 20))}, and only SHA-1 is read`,
    'use a SHA-1 repository',
  )
}

/** A forge also has a ref per pull request. */
export function buildRefsRequest({ capabilities }: Advertisement): readonly Buffer[] {
  const prefixes = ['HEAD', 'refs/heads/', 'refs/tags/'].map((prefix) =>
    encodePktLine(`ref-prefix ${prefix}\n`),
  )
  return [
    ...buildCommandHead('ls-refs', capabilities),
    encodePktLine('peel\n'),
    encodePktLine('symrefs\n'),
    ...prefixes,
    FLUSH,
  ]
}

export function buildCommandHead(
  command: string,
  capabilities: ReadonlySet<string>,
): readonly Buffer[] {
  const format = capabilities.has('object-format') ? [encodePktLine('object-format=sha1\n')] : []
  return [
    encodePktLine(`command=${command}\n`),
    encodePktLine('agent=git/backporch\n'),
    ...format,
    DELIMITER,
  ]
}

/** @throws StreamFault, TooManyRefs, RefusedService */
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
    agent: values.get('agent'),
  }
}

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

/** A version 0 server lists all others too. */
export class RefList {
  readonly refs = new Map<string, ObjectId>()
  readonly peeled = new Map<string, ObjectId>()
  private bytes = 0

  /** @throws StreamFault, TooManyRefs */
  keep(text: string): void {
    const [, id, name = ''] = REF_LINE.exec(text) ?? []
    if (id === undefined)
      throw new StreamFault('malformed', 'the list of refs is not in the git protocol')
    // The caller rejects SHA-256 by the object format.
    if (id.length !== 40 || NOTHING.test(id) || !/^refs\/(?:heads|tags)\//.test(name)) return
    this.bytes += name.length
    if (this.refs.size + this.peeled.size >= MOST_REFS)
      throw new TooManyRefs(`it has more than ${MOST_REFS} branches and tags`)
    if (this.bytes > LARGEST_NAMES)
      throw new TooManyRefs(
        `the names of its branches and tags have more than ${LARGEST_NAMES / 1024 / 1024} MiB`,
      )
    if (name.endsWith(PEELED)) this.peeled.set(name.slice(0, -PEELED.length), parseObjectId(id))
    else this.refs.set(name, parseObjectId(id))
  }
}
