/**
 * What a proposal changes in the repository: the edited sources, the Kptfile's condition and the record. The edited package
 * is rendered again and refused unless exactly the chosen fields moved (design §8).
 */
import { Failure } from '../failure.ts'
import { field } from '../krm/field-path.ts'
import { describeResourceId, resourceKey } from '../krm/resource-id.ts'
import { shownPathOnly } from '../krm/shown-path.ts'
import { editYaml, type YamlEdit } from '../package/edit-yaml.ts'
import type { PackageFiles } from '../package/package-files.ts'
import type { FileChange } from '../ports/package-repository.ts'
import type { Plan } from '../record/schema.ts'
import type { DesiredResource } from '../render/desired-set.ts'
import { renderPackage } from '../render/render-package.ts'
import { proveEdit } from './prove-edit.ts'
import { editFor, type ResolvedChange } from './resolution-edits.ts'

export interface ProposalInput {
  readonly packagePath: string
  readonly files: PackageFiles
  /** The package has functions that were not run: its files are not edited. */
  readonly pipeline: boolean
  readonly changes: readonly ResolvedChange[]
  readonly plan: Plan
  readonly workspace: string
  readonly lifecycle: 'Draft' | 'Proposed'
  readonly record: { readonly path: string; readonly text: string }
}

export interface ProposalFiles {
  readonly changes: readonly FileChange[]
  readonly notes: readonly string[]
}

/** @throws Failure BP2001, BP2002, BP2003, BP2007 or BP2010 when a resolution cannot be had */
export function buildProposal(input: ProposalInput): ProposalFiles {
  const sources = editSources(input)
  const kptfile = editKptfile(input)
  const notes: string[] = []
  const changes: FileChange[] = [...sources, kptfile, { path: input.record.path, content: bytes(input.record.text) }]
  if (input.packagePath === '') changes.push(...hideRecords(input.files, notes))
  return { changes, notes }
}

function editSources(input: ProposalInput): FileChange[] {
  const edits = new Map<string, YamlEdit[]>()
  for (const change of input.changes) {
    const wanted = editFor(change)
    if (wanted === undefined) continue
    if (input.pipeline) throw pipelineRefusal(change)
    edits.set(wanted.path, [...(edits.get(wanted.path) ?? []), wanted.edit])
  }
  if (edits.size === 0) return []
  const edited = [...edits].map(([path, list]) => {
    const before = fileText(input, path)
    return { path, before, text: editYaml(before, list, path) }
  })
  proveEditedFiles(input, new Map(edited.map(({ path, text }) => [path, text])))
  return edited
    .filter(({ before, text }) => before !== text)
    .map(({ path, text }) => ({ path, content: isBlank(text) ? null : bytes(text) }))
}

/** A file whose last object was removed goes with it, unless somebody wrote more than separators into it. */
function isBlank(text: string): boolean {
  return text.split(/\r?\n/).every((line) => line.trim() === '' || line.trim() === '---' || line.trim() === '{}')
}

/** Renders before and after, and holds the two against each other. */
function proveEditedFiles(input: ProposalInput, edited: ReadonlyMap<string, string>): void {
  const prefix = input.packagePath === '' ? '' : `${input.packagePath}/`
  const files = input.files.map((file) => {
    const text = edited.get(prefix + file.path)
    return text === undefined ? file : { ...file, content: bytes(isBlank(text) ? '' : text) }
  })
  proveEdit(rendered(input.files, input.packagePath), rendered(files, input.packagePath), input.changes)
}

function rendered(files: PackageFiles, packagePath: string): Map<string, DesiredResource> {
  const rendering = renderPackage(packagePath, files)
  if ('failures' in rendering) throw rendering.failures[0]
  return new Map(rendering.desired.resources.map((resource) => [resourceKey(resource.id), resource]))
}

const REASONS = { Restore: 'RestoreApproved', Adopt: 'Adopted', Release: 'Released', Mixed: 'RestoreApproved' } as const

/**
 * `status.conditions[type=Drifted]` with Flux's reasons and ours; the touch also wakes a syncer that filters commits by
 * path. Only fields that kpt 1.0.0-beta.56 knows (porch-kpt: strict decoding).
 */
function editKptfile(input: ProposalInput): FileChange {
  const path = input.packagePath === '' ? 'Kptfile' : `${input.packagePath}/Kptfile`
  const draft = input.lifecycle === 'Draft'
  const condition = {
    type: 'Drifted',
    status: draft ? 'True' : 'False',
    reason: draft ? 'DriftDetected' : REASONS[input.plan],
    message: input.workspace,
  }
  const place = [field('status'), field('conditions'), { kind: 'item', keys: { type: 'Drifted' } }] as const
  const text = editYaml(fileText(input, path), [{ document: 0, item: undefined, kind: 'set', path: place, value: condition }], path)
  return { path, content: bytes(text) }
}

/** In a repository that is one package the records lie inside of it: kpt must not read them. */
function hideRecords(files: PackageFiles, notes: string[]): FileChange[] {
  const ignore = files.find((file) => file.path === '.krmignore')
  const text = ignore === undefined ? '' : new TextDecoder().decode(ignore.content)
  if (text.split(/\r?\n/).some((line) => /^\/?\.drift\/?$/.test(line.trim()))) return []
  notes.push('.krmignore gets the line .drift/, because the repository itself is the package')
  return [{ path: '.krmignore', content: bytes(`${text}${text === '' || text.endsWith('\n') ? '' : '\n'}.drift/\n`) }]
}

function fileText(input: ProposalInput, path: string): string {
  const relative = input.packagePath === '' ? path : path.slice(input.packagePath.length + 1)
  const file = input.files.find((candidate) => candidate.path === relative)
  if (file === undefined) throw new TypeError(`the package has no file ${path}`)
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(file.content)
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function pipelineRefusal({ drift, resolution }: ResolvedChange): Failure {
  return new Failure({
    code: 'BP2003',
    what: `cannot ${resolution.toLowerCase()} ${shownPathOnly(drift.path) || describeResourceId(drift.id)} of ${describeResourceId(drift.id)}`,
    why: 'the package has a pipeline whose functions may write the field, and this version does not run pipelines',
    remedy: 'edit the value where the pipeline takes it from, render with kpt and commit; or choose restore',
  })
}
