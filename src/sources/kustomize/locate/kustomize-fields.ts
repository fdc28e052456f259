import { type FieldPath, findValueAt } from '@backporch/kyaml/field'
import { getKey, getPartAt, type Json } from '@backporch/kyaml/json'
import { splitReference } from '@backporch/kyaml/text'
import { index, isAt, makePath, type SourceDocument } from '../../build/adopt/source-document.ts'
import type { BuiltTarget } from '../../build/built-unit.ts'
import type { SourceCandidate, SourceLocations, Wanted } from '../../locate/candidate.ts'
import { resolvePath } from '../files/kustomization-walk.ts'
import { readSourceText, type SourceFiles } from '../files/kustomize-build.ts'

export function findFieldCandidates(
  kustomizations: readonly SourceDocument[],
  files: SourceFiles,
  target: BuiltTarget,
): SourceLocations {
  const all = kustomizations.flatMap((kustomization) => [
    ...findImageCandidates(kustomization, target),
    ...findImageTexts(kustomization, target),
    ...findReplicaCandidates(kustomization, target),
    ...findLabelCandidates(kustomization, target),
  ])
  const created = kustomizations.map((kustomization) => findGenerated(kustomization, files, target))
  return {
    candidates: [...all, ...created.flatMap(({ candidates }) => candidates)],
    obstacles: created.flatMap(({ obstacles }) => obstacles),
  }
}

/** Including prefixes and suffixes of folders below. */
export function matchesDeclaredName(
  name: string,
  { desired, declaredName }: Pick<BuiltTarget, 'desired' | 'declaredName'>,
): boolean {
  const rendered = desired.id.name
  return (
    name !== '' &&
    (name === declaredName ||
      name === rendered ||
      (rendered.includes(name) && name.includes(declaredName)))
  )
}

type Entry = ReturnType<SourceDocument['listEntries']>[number]

export function getEntryText(value: { readonly [key: string]: Json }, key: string): string {
  const found = getKey(value, key)
  return typeof found === 'string'
    ? found
    : found === undefined || found === null
      ? ''
      : String(found)
}

function setField(
  kustomization: SourceDocument,
  path: FieldPath,
  value: Wanted,
  { via, what }: Pick<SourceCandidate, 'via' | 'what'>,
): SourceCandidate {
  return {
    via,
    what: `${what} (${kustomization.formatLocation(path)})`,
    edits: [kustomization.edit(path, value)],
  }
}

function listImageEntries(
  kustomization: SourceDocument,
  { desired, path }: Pick<BuiltTarget, 'desired' | 'path'>,
): readonly Entry[] {
  return kustomization
    .listEntries('images')
    .filter(({ value }) => isOfImage(value, { desired, path }))
}

export function isOfImage(
  entry: Entry['value'],
  { desired, path }: Pick<BuiltTarget, 'desired' | 'path'>,
): boolean {
  const now = findValueAt(desired.object, path)
  return (
    isImage(path) &&
    typeof now === 'string' &&
    (getEntryText(entry, 'newName') || getEntryText(entry, 'name')) === splitReference(now).name
  )
}

function findImageCandidates(
  kustomization: SourceDocument,
  target: BuiltTarget,
): readonly SourceCandidate[] {
  const { wanted } = target
  if (typeof wanted !== 'string') return []
  return listImageEntries(kustomization, target).flatMap(({ index: position, value }) => {
    const parts = computeImageParts(value, wanted)
    if (parts.size === 0) return []
    const at = [...makePath('images'), index(position)]
    const named = getEntryText(value, 'name')
    const what = `${[...parts.keys()].join(' and ')} of the image ${named} (${kustomization.formatLocation([...at, ...makePath([...parts.keys()][0] ?? '')])})`
    return [
      {
        via: `image:${named}`,
        what,
        edits: [...parts].map(([part, now]) => kustomization.edit([...at, ...makePath(part)], now)),
      },
    ]
  })
}

export function computeImageParts(
  entry: Entry['value'],
  wanted: string,
): ReadonlyMap<string, string | undefined> {
  const live = splitReference(wanted)
  const parts = new Map<string, string | undefined>()
  if (live.name !== (getEntryText(entry, 'newName') || getEntryText(entry, 'name')))
    parts.set('newName', live.name)
  for (const [part, now] of [
    ['newTag', live.tag],
    ['digest', live.digest],
  ] as const) {
    const before = getEntryText(entry, part) || undefined
    if (now === before) continue
    // A tag that the entry lacks comes from the manifest. A digest has no owner until it is set.
    const isOwned = before !== undefined || part === 'digest' || getEntryText(entry, 'digest')
    if (now === undefined || isOwned) parts.set(part, now)
  }
  return parts
}

function findImageTexts(
  kustomization: SourceDocument,
  { desired, path, wanted }: BuiltTarget,
): readonly SourceCandidate[] {
  const now = findValueAt(desired.object, path)
  if (!isImage(path) || typeof wanted !== 'string' || typeof now !== 'string') return []
  return kustomization.listTexts('images').flatMap(({ index: position, text: entry }) => {
    const equals = entry.indexOf('=')
    const [named, image] = [
      entry.slice(0, Math.max(0, equals)) || undefined,
      splitReference(entry.slice(equals + 1)),
    ]
    const live = splitReference(wanted)
    if (splitReference(now).name !== image.name && named !== splitReference(now).name) return []
    const before = named ?? (live.name === image.name ? '' : image.name)
    const other = before || equals !== -1 ? `${before}=` : ''
    const hadTag = image.tag !== undefined || image.digest !== undefined
    const tag = live.tag === undefined || !hadTag ? '' : `:${live.tag}`
    const digest = live.digest === undefined ? '' : `@${live.digest}`
    const at = [...makePath('images'), index(position)]
    const via = { via: `image:${named ?? image.name}`, what: `the image ${named ?? image.name}` }
    return [setField(kustomization, at, `${other}${live.name}${tag}${digest}`, via)]
  })
}

function isImage(path: FieldPath): boolean {
  const last = path.at(-1)
  return last?.kind === 'field' && last.name === 'image'
}

/**
 * The name that a renaming kustomization matches. Undefined if the wanted value itself must be
 * written.
 * @param more entries of transformers that may have written the image
 */
export function findShownImage(
  kustomizations: readonly SourceDocument[],
  target: BuiltTarget,
  more: readonly Entry['value'][] = [],
): string | undefined {
  const { wanted } = target
  if (typeof wanted !== 'string') return undefined
  const live = splitReference(wanted)
  const entries = kustomizations
    .flatMap((kustomization) => listImageEntries(kustomization, target))
    .map(({ value }) => value)
  const entry = [...entries, ...more].find((each) => getEntryText(each, 'newName') === live.name)
  const named =
    entry === undefined
      ? findImageName(kustomizations, target, live.name)
      : getEntryText(entry, 'name')
  if (named === undefined) return undefined
  return `${named}${live.tag === undefined ? '' : `:${live.tag}`}${live.digest === undefined ? '' : `@${live.digest}`}`
}

function findImageName(
  kustomizations: readonly SourceDocument[],
  { path }: BuiltTarget,
  shown: string,
): string | undefined {
  if (!isImage(path)) return undefined
  const entries = kustomizations
    .flatMap((kustomization) => kustomization.listTexts('images'))
    .map(({ text: entry }) => entry.split('=', 2))
  return entries.find(
    ([, image]) => image !== undefined && splitReference(image).name === shown,
  )?.[0]
}

function findReplicaCandidates(
  kustomization: SourceDocument,
  target: BuiltTarget,
): readonly SourceCandidate[] {
  if (!isAt(target.path, 'spec', 'replicas')) return []
  return kustomization.listEntries('replicas').flatMap(({ index: position, value }) => {
    const name = getEntryText(value, 'name')
    if (!matchesDeclaredName(name, target)) return []
    const entry = [...makePath('replicas'), index(position)]
    const path = target.wanted === undefined ? entry : [...entry, ...makePath('count')]
    return [
      setField(kustomization, path, target.wanted, {
        via: `replicas:${name}`,
        what: `the replicas of ${name}`,
      }),
    ]
  })
}

const LABEL_PLACES = new Set(['labels', 'matchLabels', 'selector'])

function findLabelCandidates(
  kustomization: SourceDocument,
  { path, wanted }: BuiltTarget,
): readonly SourceCandidate[] {
  const [last, above] = [path.at(-1), path.at(-2)]
  if (last?.kind !== 'field' || above?.kind !== 'field') return []
  const candidate = (kind: string, at: FieldPath): readonly SourceCandidate[] =>
    kustomization.has(at)
      ? [
          setField(kustomization, at, wanted, {
            via: `${kind}:${last.name}`,
            what: `the ${kind} ${last.name}`,
          }),
        ]
      : []
  const own = isAt(path, 'metadata', above.name, last.name)
    ? candidate(above.name.slice(0, -1), makePath('commonMetadata', above.name, last.name))
    : []
  if (above.name === 'annotations')
    return [...own, ...candidate('annotation', makePath('commonAnnotations', last.name))]
  if (!LABEL_PLACES.has(above.name)) return []
  const pairs = kustomization
    .listEntries('labels')
    .map(({ index: position }) => [
      ...makePath('labels'),
      index(position),
      ...makePath('pairs', last.name),
    ])
  return [
    ...own,
    ...[makePath('commonLabels', last.name), ...pairs].flatMap((at) => candidate('label', at)),
  ]
}

function findGenerated(
  kustomization: SourceDocument,
  files: SourceFiles,
  target: BuiltTarget,
): SourceLocations {
  const [data, key, ...rest] = target.path
  const { kind } = target.desired.id
  if (
    kind !== 'ConfigMap' ||
    data?.kind !== 'field' ||
    data.name !== 'data' ||
    key?.kind !== 'field' ||
    rest.length > 0
  )
    return { candidates: [], obstacles: [] }
  const entries = kustomization
    .listEntries('configMapGenerator')
    .filter(({ value }) => matchesDeclaredName(getEntryText(value, 'name'), target))
  const candidates = entries.flatMap((entry) =>
    findInGenerator(kustomization, files, entry, { key: key.name, wanted: target.wanted }),
  )
  const hashed = entries.filter(
    ({ value }) =>
      !hasPlainName(kustomization, value) && target.desired.id.name !== getEntryText(value, 'name'),
  )
  const obstacles = hashed.map(({ index: position, value }) => ({
    where: kustomization.formatLocation([...makePath('configMapGenerator'), index(position)]),
    why: `the name of the ConfigMap ${getEntryText(value, 'name')} ends with a hash of its content, so that another value is another object`,
    remedy:
      'change the value in the kustomization by hand, or set disableNameSuffixHash, or choose restore',
  }))
  return { candidates, obstacles }
}

function hasPlainName(kustomization: SourceDocument, value: Entry['value']): boolean {
  const all = kustomization.getValueAt(makePath('generatorOptions', 'disableNameSuffixHash'))
  return getPartAt(value, 'options', 'disableNameSuffixHash') === true || all === true
}

function findInGenerator(
  kustomization: SourceDocument,
  files: SourceFiles,
  { index: position }: Entry,
  { key, wanted }: { readonly key: string; readonly wanted: Wanted },
): readonly SourceCandidate[] {
  if (typeof wanted !== 'string') return []
  const found = findGeneratorLocations(
    kustomization,
    files,
    [...makePath('configMapGenerator'), index(position)],
    key,
  )
  return found.flatMap((each): SourceCandidate[] => {
    if (each.is === 'literal')
      return [
        setField(kustomization, each.at, `${key}=${wanted}`, {
          via: `literal:${key}`,
          what: `the literal ${key}`,
        }),
      ]
    if (each.is === 'file')
      return [
        {
          via: `file:${each.named}`,
          what: `the file ${each.file}`,
          edits: [],
          texts: new Map([[each.file, wanted]]),
        },
      ]
    if (/[\r\n]/.test(wanted)) return []
    const rows = readSourceText(each.file, files).split('\n')
    const changed = rows.with(
      each.row,
      `${key}=${wanted}${rows[each.row]?.endsWith('\r') ? '\r' : ''}`,
    )
    const what = `the line of ${key} (${each.file}:${each.row + 1})`
    return [
      { via: `env:${key}`, what, edits: [], texts: new Map([[each.file, changed.join('\n')]]) },
    ]
  })
}

/** `at` is from the root of the kustomization. */
export type GeneratorLocation =
  | { readonly is: 'literal'; readonly at: FieldPath; readonly literal: string }
  | { readonly is: 'file'; readonly at: FieldPath; readonly named: string; readonly file: string }
  /** Row and column count from 0. */
  | {
      readonly is: 'env'
      readonly at: FieldPath
      readonly file: string
      readonly row: number
      readonly column: number
    }

export function findGeneratorLocations(
  kustomization: SourceDocument,
  files: SourceFiles,
  at: FieldPath,
  key: string,
): readonly GeneratorLocation[] {
  const within = (name: string) => {
    const value = kustomization.getValueAt([...at, ...makePath(name)])
    return (Array.isArray(value) ? value : []).flatMap((each: Json, order) =>
      typeof each === 'string'
        ? [{ at: [...at, ...makePath(name), index(order)], text: each }]
        : [],
    )
  }
  const literals = within('literals').flatMap(
    ({ at: location, text: literal }): GeneratorLocation[] =>
      literal.slice(0, literal.indexOf('=')) === key
        ? [{ is: 'literal', at: location, literal }]
        : [],
  )
  const whole = within('files').flatMap(({ at: position, text: entry }): GeneratorLocation[] => {
    const named = entry.replace(/^[^=]*=/, '')
    const file = resolvePath(kustomization.folder, named)
    const name = entry.includes('=')
      ? entry.slice(0, entry.indexOf('='))
      : named.slice(named.lastIndexOf('/') + 1)
    return name !== key || file === undefined || !files.has(file)
      ? []
      : [{ is: 'file', at: position, named, file }]
  })
  const single = kustomization.getValueAt([...at, ...makePath('env')])
  const named =
    typeof single === 'string' ? [{ at: [...at, ...makePath('env')], text: single }] : []
  const lines = [...within('envs'), ...named].flatMap(
    ({ at: where, text: entry }): GeneratorLocation[] => {
      const file = resolvePath(kustomization.folder, entry)
      if (file === undefined || !files.has(file)) return []
      const rows = readSourceText(file, files).split('\n')
      const row = rows.findIndex((line) => line.trimStart().startsWith(`${key}=`))
      return row === -1
        ? []
        : [{ is: 'env', at: where, file, row, column: (rows[row] ?? '').indexOf('=') + 1 }]
    },
  )
  return [...literals, ...whole, ...lines]
}
