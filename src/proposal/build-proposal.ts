/**
 * The file changes of a proposal: the edited sources, the condition of the Kptfile, and the record. The edited package is rendered again,
 * and refused unless exactly the chosen fields moved (design §8).
 */
import type { FileChange } from '@backporch/git-store/package-repository'
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { answerCalls, type FunctionLibrary } from '@backporch/kpt/function'
import { editYaml } from '@backporch/kyaml/edit-yaml'
import { Failure, orFailure } from '@backporch/kyaml/failure'
import { field } from '@backporch/kyaml/field'
import type { PackageFiles } from '@backporch/kyaml/files'
import type { Note } from '@backporch/kyaml/note'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { describeResourceId, resourceKey } from '@backporch/kyaml/resource'
import type { Derived } from '@backporch/kyaml/text'
import { LRUCache } from 'lru-cache'
import type { Plan } from '../record/documents/drift-record.ts'
import { adoptThroughBuild } from '../sources/build/adopt/build-adoption.ts'
import type { BuiltUnit } from '../sources/build/adopt/built-unit.ts'
import { joinAnchored } from '../sources/edits/anchored-edits.ts'
import { joinRemovals } from '../sources/edits/joined-removals.ts'
import { proveEdit } from '../sources/edits/prove-edit.ts'
import { editFor, type ResolvedChange } from '../sources/edits/resolution-edits.ts'
import { adoptThroughPipeline } from '../sources/kpt/adopt/adoption.ts'
import { type RenderedPackage, renderAsFiles, renderPackage } from '../sources/kpt/render/render-package.ts'
import { editsByFile } from '../sources/locate/candidate.ts'
import { placeInBuild } from './whole/place-in-build.ts'
import { placeInPackage, wholeChanges } from './whole/place-objects.ts'

export interface ProposalInput {
  readonly packagePath: string
  readonly files: PackageFiles
  /** Whether the package has a pipeline: then the inputs of its functions are edited. */
  readonly pipeline: boolean
  /** Whether its files are applied as they are, without its pipeline. */
  readonly asFiles?: boolean
  readonly functions: FunctionLibrary
  /** Input of a unit that another tool than kpt renders. */
  readonly built?: BuiltUnit | undefined
  readonly changes: readonly ResolvedChange[]
  readonly plan: Plan
  readonly workspace: string
  readonly lifecycle: 'Draft' | 'Proposed'
  readonly record: FileChange
  /** Stores an edit for the next turn with the same edit. */
  readonly derived?: Derived
}

export interface ProposalFiles {
  readonly changes: readonly FileChange[]
  readonly notes: readonly Note[]
}

/** @throws Failure BP1207, BP2001, BP2002, BP2007, BP2010 or BP2014 when a resolution is not possible */
export function buildProposal(input: ProposalInput): ProposalFiles {
  const notes: Note[] = []
  const edited = withWholeObjects(input, editJoined(input, notes))
  notes.push(...input.changes.flatMap(notProven))
  // A folder without a Kptfile has none.
  const kptfiles = input.files.some(({ path }) => path === 'Kptfile') ? [editKptfile(input, edited)] : []
  // The Kptfile may configure a function, and then is one of the edited sources.
  const sources = edited.filter(({ path }) => !kptfiles.some((kptfile) => kptfile.path === path))
  return { changes: [...sources, ...kptfiles, input.record], notes }
}

/** What is emptied goes as a whole; where no source has it as a whole, piece by piece. */
function editJoined(input: ProposalInput, notes: Note[]): FileChange[] {
  const changes = joinRemovals(input.changes)
  if (changes === input.changes) return editSources(input, notes)
  const edited = orFailure(() => editSources({ ...input, changes }, notes))
  return edited instanceof Failure ? editSources(input, notes) : edited
}

function editSources(input: ProposalInput, notes: Note[]): FileChange[] {
  if (input.built !== undefined)
    return [...adoptThroughBuild({ ...input.built, changes: input.changes })].map(([path, content]) => ({ path, content }))
  if (input.pipeline) {
    const { texts, notes: known } = adoptThroughPipeline(input)
    notes.push(...known)
    return [...texts].map(([path, text]) => ({ path, content: isBlank(text) ? null : bytes(text) }))
  }
  const edits = editsByFile(input.changes.flatMap((change) => editFor(change) ?? []))
  if (edits.size === 0) return []
  const edited = [...edits].map(([path, list]) => {
    const before = fileText(input, path)
    const documents = readYamlNodes(before.replaceAll('\r\n', '\n'), path)
    return { path, before, text: editYaml(before, joinAnchored(list, documents), path) }
  })
  proveEditedFiles(input, new Map(edited.map(({ path, text }) => [path, text])))
  return edited
    .filter(({ before, text }) => before !== text)
    .map(({ path, text }) => ({ path, content: isBlank(text) ? null : bytes(text) }))
}

function notProven({ drift, whole }: ResolvedChange): readonly Note[] {
  if (whole?.unproven === undefined) return []
  const text = `no dry run proved the manifest, so it may have defaults of the server: ${whole.unproven}`
  return [{ cause: 'manifest-not-proven', subject: describeResourceId(drift.id), text }]
}

/** The edited files, with the manifests of objects that git does not declare. */
function withWholeObjects(input: ProposalInput, edited: readonly FileChange[]): readonly FileChange[] {
  const changes = wholeChanges(input.changes)
  if (changes.length === 0) return edited
  const contents = new Map(edited.map(({ path, content }) => [path, content]))
  if (input.built !== undefined) return joinFiles(contents, placeInBuild(input.built, contents, changes))
  const { packagePath } = input
  const prefix = packagePath === '' ? '' : `${packagePath}/`
  const files = input.files.flatMap((file) => {
    const content = contents.get(prefix + file.path)
    return content === null ? [] : [content === undefined ? file : { ...file, content }]
  })
  const texts = placeInPackage({ packagePath, files, changes, render: (own) => renderedPackage(input, own) })
  return joinFiles(contents, new Map([...texts].map(([path, text]) => [path, bytes(text)])))
}

function joinFiles(before: ReadonlyMap<string, Uint8Array | null>, more: ReadonlyMap<string, Uint8Array | null>): readonly FileChange[] {
  return [...new Map([...before, ...more])].map(([path, content]) => ({ path, content }))
}

/** Whether no object is left: such a file is removed, unless it has more than separators. */
function isBlank(text: string): boolean {
  return text.split(/\r?\n/).every((line) => line.trim() === '' || line.trim() === '---' || line.trim() === '{}')
}

/** Compares the rendered package before and after the edits. */
function proveEditedFiles(input: ProposalInput, edited: ReadonlyMap<string, string>): void {
  const prefix = input.packagePath === '' ? '' : `${input.packagePath}/`
  const files = input.files.map((file) => {
    const text = edited.get(prefix + file.path)
    return text === undefined ? file : { ...file, content: bytes(isBlank(text) ? '' : text) }
  })
  proveEdit(rendered(input, input.files), rendered(input, files), input.changes)
}

function rendered(input: ProposalInput, files: PackageFiles): Map<string, DesiredResource> {
  return new Map(renderedPackage(input, files).desired.resources.map((resource) => [resourceKey(resource.id), resource]))
}

/** @throws Failure of the package */
function renderedPackage({ packagePath, functions, asFiles }: ProposalInput, files: PackageFiles): RenderedPackage {
  const rendering = asFiles
    ? renderAsFiles(packagePath, files)
    : answerCalls(renderPackage(packagePath, files, { attributed: false }), functions)
  if ('failures' in rendering) throw rendering.failures[0]
  return rendering
}

const REASONS = { Adopt: 'Adopted', Release: 'Released', Restore: 'RestoreApproved' } as const

/** A mixed plan has each reason once, joined by commas, which a reason may contain (docs/facts/condition-reasons.md). */
function reasonOf({ plan, changes }: ProposalInput): string {
  if (plan !== 'Mixed') return REASONS[plan]
  const decided = new Set(changes.map(({ resolution }) => REASONS[resolution]))
  return Object.values(REASONS)
    .filter((reason) => decided.has(reason))
    .join(',')
}

/**
 * Sets `status.conditions[type=Drifted]`, with Flux's reasons and ours. The edit also wakes a syncer that filters commits by path. It uses
 * only fields that kpt 1.0.0-beta.56 knows (docs/facts/kptfile-strictness.md).
 */
function editKptfile(input: ProposalInput, sources: readonly FileChange[]): FileChange {
  const path = input.packagePath === '' ? 'Kptfile' : `${input.packagePath}/Kptfile`
  const before = sources.find((change) => change.path === path)?.content ?? fileContent(input, path)
  const draft = input.lifecycle === 'Draft'
  const condition = {
    type: 'Drifted',
    status: draft ? 'True' : 'False',
    reason: draft ? 'DriftDetected' : reasonOf(input),
    message: input.workspace,
  }
  const location = [field('status'), field('conditions'), { kind: 'item', keys: { type: 'Drifted' } }] as const
  const edited = (): Uint8Array =>
    bytes(editYaml(textOf(before), [{ document: 0, item: undefined, kind: 'set', path: location, value: condition }], path))
  // Each cluster that runs the package makes the same edit in every turn.
  const known = input.derived?.get(
    before,
    'edited',
    [],
    () => new LRUCache<string, Uint8Array>({ maxSize: MOST_EDITED, sizeCalculation: () => 1 }),
  )
  const wanted = JSON.stringify([path, condition])
  const content = known?.get(wanted) ?? edited()
  known?.set(wanted, content)
  return { path, content }
}

/** Edits that are stored for one Kptfile. */
const MOST_EDITED = 500

function fileText(input: ProposalInput, path: string): string {
  return textOf(fileContent(input, path))
}

function fileContent(input: ProposalInput, path: string): Uint8Array {
  const relative = input.packagePath === '' ? path : path.slice(input.packagePath.length + 1)
  const file = input.files.find((candidate) => candidate.path === relative)
  if (file === undefined) throw new TypeError(`the package has no file ${path}`)
  return file.content
}

function textOf(content: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(content)
}

/** A file whose text is created when it is written. */
export function laterFile(path: string, text: () => string): FileChange {
  return {
    path,
    get content() {
      return bytes(text())
    },
  }
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
