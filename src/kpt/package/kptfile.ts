import { Failure, type FailureCode } from '@backporch/kyaml/failure'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import {
  describeOthers,
  formatPosition,
  type GoYamlDocument,
  type GoYamlFile,
  LineIndex,
  parseGoYaml,
  type TextPosition,
} from '@backporch/kyaml/read-yaml'
import { findNearestNames } from '@backporch/kyaml/text'
import { getYamlKey, isNull, resolveAlias, type YamlNode } from '@backporch/kyaml/yaml'
import { getTextField, isEmpty } from './kptfile-fields.ts'
import {
  findConfigPathProblem,
  isImageReference,
  KPTFILE_API_VERSION,
  KPTFILE_KIND,
  KPTFILE_SHAPE,
  type Shape,
} from './kptfile-rules.ts'
import { buildKptfile, type Kptfile, type Location } from './kptfile-value.ts'

export type KptfileReading =
  | { readonly kptfile: Kptfile }
  | { readonly failures: readonly [Failure, ...Failure[]] }

/**
 * A field that no kpt knows is a failure, because kpt then refuses the package. In line order:
 * BP1101 (not a Kptfile), BP1102 (name), BP1103 (unknown field), BP1104 (function), BP1110 and
 * BP1111 (YAML). As in kpt, unused parts may be anything (docs/facts/kptfile-strictness.md). Never
 * throws for bad input.
 */
export function readKptfile(text: string, where: string): KptfileReading {
  let file: GoYamlFile
  try {
    file = parseGoYaml(text, where, { mostNodes: MOST_NODES })
  } catch (thrown) {
    if (thrown instanceof Failure) return { failures: [thrown] }
    throw thrown
  }
  const [document, second] = file.documents
  if (document === undefined) return { failures: [emptyKptfile(where)] }
  const reader = new KptfileReader(document, text, where)
  if (second !== undefined) {
    reader.refuse(
      'BP1101',
      second,
      `a Kptfile is one YAML document, and this file has ${file.documents.length}`,
      'remove the others',
    )
  }
  const kptfile = reader.read()
  const [first, ...others] = reader.listFailuresInOrder()
  return first === undefined ? { kptfile } : { failures: [first, ...others] }
}

function emptyKptfile(where: string): Failure {
  return new Failure({
    code: 'BP1101',
    what: 'the file is not a valid Kptfile',
    where,
    why: 'the file is empty, or has nothing but comments',
    remedy: `give it apiVersion: ${KPTFILE_API_VERSION}, kind: ${KPTFILE_KIND} and metadata.name`,
    retry: 'on-change',
  })
}

const WHAT: { readonly [code: string]: string } = {
  BP1101: 'the file is not a valid Kptfile',
  BP1102: 'the package has no name',
  BP1103: 'the Kptfile has a field that kpt does not know',
  BP1104: 'a function of the pipeline is not valid',
  BP1110: 'the YAML is not valid',
}

/** The check takes longer than reading. */
const MOST_NODES = 20_000
const MOST_FAILURES = 100

class KptfileReader {
  private readonly failures: { readonly failure: Failure; readonly at: TextPosition }[] = []
  private readonly document: GoYamlDocument
  private readonly lines: LineIndex
  private readonly where: string

  constructor(document: GoYamlDocument, text: string, where: string) {
    this.document = document
    this.lines = new LineIndex(text)
    this.where = where
  }

  refuse(code: FailureCode, at: TextPosition, why: string, remedy: string): void {
    const detail = {
      code,
      what: WHAT[code] ?? '',
      where: formatPosition(this.where, at),
      why,
      remedy,
      retry: 'on-change' as const,
    }
    this.failures.push({ failure: new Failure(detail), at })
  }

  listFailuresInOrder(): readonly Failure[] {
    const inOrder = this.failures.toSorted(
      (a, b) => a.at.line - b.at.line || a.at.column - b.at.column,
    )
    return inOrder.map(({ failure }) => failure)
  }

  read(): Kptfile {
    const { value } = this.document
    for (const note of this.document.notes) {
      const { kind, offset, earlier } = note
      if (kind !== 'duplicate-key') continue
      const first = this.getPosition(earlier ?? offset).line
      this.refuse(
        'BP1110',
        this.getPosition(offset),
        `the key appears twice, first at line ${first}${describeOthers(note)}; kpt refuses that`,
        'keep one of them',
      )
    }
    if (!isJsonObject(value)) {
      this.refuse(
        'BP1101',
        this.document,
        `wanted a mapping, got ${describe(value)}`,
        `begin the file with apiVersion: ${KPTFILE_API_VERSION}`,
      )
      return buildKptfile({}, { lineOf: () => 1, textsAt: () => new Map() })
    }
    // In another kind or version, the fields have another meaning.
    if (this.checkType(value)) {
      this.checkShape(value, KPTFILE_SHAPE, [])
      this.checkName(value)
      for (const list of ['mutators', 'validators']) this.checkFunctions(value, list)
    }
    return buildKptfile(value, {
      lineOf: (location) => this.findPosition(location).line,
      textsAt: (position) => this.getWrittenTexts(position),
    })
  }

  private checkType(value: JsonObject): boolean {
    const apiVersion = getTextField(value, 'apiVersion')
    const kind = getTextField(value, 'kind')
    const before = this.failures.length
    if (kind !== KPTFILE_KIND) {
      const meant =
        kind !== undefined && findNearestNames(kind, [KPTFILE_KIND]).length > 0
          ? `; did you mean ${KPTFILE_KIND}?`
          : ''
      const why =
        kind === undefined ? 'kind is missing' : `the kind ${quote(kind)} is unknown${meant}`
      this.refuse('BP1101', this.findPosition(['kind']), why, `write kind: ${KPTFILE_KIND}`)
    }
    if (apiVersion !== KPTFILE_API_VERSION) {
      const why =
        apiVersion === undefined
          ? 'apiVersion is missing'
          : `the apiVersion ${quote(apiVersion)} is not supported; supported: ${KPTFILE_API_VERSION}`
      const old = /^kpt\.dev\/v1alpha[12]$/.test(apiVersion ?? '')
        ? ', after changing the fields; the catalog function "fix" does both'
        : ''
      this.refuse(
        'BP1101',
        this.findPosition(['apiVersion']),
        why,
        `write apiVersion: ${KPTFILE_API_VERSION}${old}`,
      )
    }
    return this.failures.length === before
  }

  private checkName(value: JsonObject): void {
    const metadata = getKey(value, 'metadata')
    const name = isJsonObject(metadata) ? getTextField(metadata, 'name') : undefined
    if (name !== undefined) return
    const at = this.findPosition(metadata === undefined ? [] : ['metadata', 'name'])
    this.refuse(
      'BP1102',
      at,
      'metadata.name is missing',
      'give it a metadata.name, such as the name of its folder',
    )
  }

  private checkShape(value: Json, shape: Shape, location: Location): void {
    if (value === null || shape.kind === 'any') return
    if (shape.kind === 'text') {
      if (isJsonObject(value) || isJsonArray(value)) this.refuseType(location, 'a text', value)
    } else if (shape.kind === 'list') {
      if (!isJsonArray(value)) this.refuseType(location, 'a list', value)
      else
        for (const [index, item] of value.entries())
          this.checkShape(item, shape.item, [...location, index])
    } else if (!isJsonObject(value)) this.refuseType(location, 'a mapping', value)
    else if (shape.kind === 'texts') {
      for (const [key, text] of Object.entries(value))
        this.checkShape(text, { kind: 'text' }, [...location, key])
    } else
      for (const [name, below] of Object.entries(value))
        this.checkField(name, below, shape.fields, location)
  }

  private checkField(
    name: string,
    value: Json,
    fields: { readonly [name: string]: Shape },
    location: Location,
  ): void {
    if (this.failures.length >= MOST_FAILURES) return
    const shape = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (shape !== undefined) {
      this.checkShape(value, shape, [...location, name])
      return
    }
    const known = Object.keys(fields)
    const [meant] = findNearestNames(name, known)
    const under = location.length === 0 ? 'a Kptfile' : formatLocation(location)
    const why = `${quote(name)} is not a field of ${under}${meant === undefined ? '' : `; did you mean ${meant}?`}`
    this.refuse(
      'BP1103',
      this.findPosition([...location, name]),
      why,
      meant === undefined ? `remove it; known are ${known.join(', ')}` : `write ${meant}`,
    )
  }

  private refuseType(location: Location, wanted: string, value: Json): void {
    const code = location[0] === 'pipeline' ? 'BP1104' : 'BP1101'
    this.refuse(
      code,
      this.findPosition(location),
      `${formatLocation(location)}: wanted ${wanted}, got ${describe(value)}`,
      `make it ${wanted}, or remove it`,
    )
  }

  private checkFunctions(value: JsonObject, list: string): void {
    const pipeline = getKey(value, 'pipeline')
    const functions = isJsonObject(pipeline) ? getKey(pipeline, list) : undefined
    if (!isJsonArray(functions)) return
    functions.forEach((each, index) => {
      const location = ['pipeline', list, index]
      const refuse = (why: string, remedy: string) =>
        this.refuse(
          'BP1104',
          this.findPosition(location),
          `${formatLocation(location)}: ${why}`,
          remedy,
        )
      if (each === null) refuse('the function is empty', 'remove it, or name an image')
      if (isJsonObject(each)) checkFunction(each, refuse)
    })
  }

  private getPosition(offset: number): TextPosition {
    return this.lines.getPosition(offset)
  }

  private getWrittenTexts(location: Location): ReadonlyMap<string, string> {
    let node: YamlNode | undefined = this.document.node
    for (const step of location) node = findNodeBelow(node, step)?.node
    const map = node === undefined ? undefined : resolveAlias(node)
    const texts = new Map<string, string>()
    if (map?.kind === 'map')
      for (const { key, value } of map.entries) {
        const text = resolveAlias(value)
        texts.set(getYamlKey(key), text.kind !== 'scalar' || isNull(text) ? '' : text.value)
      }
    return texts
  }

  private findPosition(location: Location): TextPosition {
    let { node }: { node: YamlNode } = this.document
    let offset = node.source?.start ?? 0
    for (const step of location) {
      const next = findNodeBelow(node, step)
      if (next === undefined) break
      offset = next.offset
      node = next.node
    }
    return this.getPosition(offset)
  }
}

function findNodeBelow(
  node: YamlNode | undefined,
  step: string | number,
): { readonly node: YamlNode; readonly offset: number } | undefined {
  const target = node === undefined ? undefined : resolveAlias(node)
  if (target?.kind === 'list' && typeof step === 'number') {
    const item = target.items[step]
    return item === undefined ? undefined : { node: item, offset: item.source?.start ?? 0 }
  }
  if (target?.kind !== 'map') return undefined
  const entry = target.entries.findLast(({ key }) => key.kind === 'scalar' && key.value === step)
  return entry === undefined
    ? undefined
    : { node: entry.value, offset: entry.key.source?.start ?? 0 }
}

function checkFunction(value: JsonObject, refuse: (why: string, remedy: string) => void): void {
  const [image, exec] = [getTextField(value, 'image'), getTextField(value, 'exec')]
  if (image !== undefined && exec !== undefined)
    refuse('it has both image and exec', 'keep exactly one of image and exec')
  // A misspelled image or exec has its own failure.
  const isMeant = (name: string): boolean =>
    !['image', 'exec'].includes(name) && findNearestNames(name, ['image', 'exec']).length > 0
  if (image === undefined && exec === undefined && !Object.keys(value).some(isMeant))
    refuse('it has neither image nor exec', 'name the function by image')
  if (image !== undefined && !isImageReference(image))
    refuse(`the image ${quote(image)} is not an image reference`, 'write it as host/path:tag')
  const configs = ['configMap', 'configPath', 'configRef'].filter(
    (name) => !isEmpty(getKey(value, name)),
  )
  if (configs.length > 1) refuse(`it has ${configs.join(' and ')}`, 'keep exactly one of them')
  const path = getKey(value, 'configPath')
  const problem = typeof path === 'string' && path !== '' ? findConfigPathProblem(path) : undefined
  if (problem !== undefined)
    refuse(`${problem}: ${quote(String(path))}`, 'keep the function config inside the package')
}

function describe(value: Json): string {
  if (isJsonArray(value)) return 'a list'
  return isJsonObject(value) ? 'a mapping' : 'a single value'
}

function formatLocation(location: Location): string {
  return location
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${step}`,
    )
    .join('')
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text)
}
