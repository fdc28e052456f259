/**
 * Merging a record decides, so it must be valid, inert for every syncer, and about drift that still
 * exists.
 */
import type { PackageRepository, TreeFile } from '@backporch/git-store/package-repository'
import { convertToFailure, Failure } from '@backporch/kyaml/failure'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { type DriftRecord, driftRecordSchema } from '../../record/documents/drift-record.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import {
  convertToPresentPath,
  DRIFT_FOLDER,
  formatPathSegment,
  RECORD_FILE,
} from '../../record/record-paths.ts'
import {
  appendLastDocument,
  INERT_LINE,
  isNoManifest,
  parseDocument,
} from '../../record/write-document.ts'
import { type ActionRun, type Answered, findWorstCode } from './action-run.ts'
import { type EventPullRequest, readPullRequest } from './pull-request-event.ts'

const RECORDS = `${DRIFT_FOLDER}/records`

/**
 * @returns 0 if every record holds; 1 if one does not; 3 if the drift of one could not be observed,
 * unless `partial` is ok
 */
export async function verifyPullRequest(action: ActionRun): Promise<number> {
  const { runner, cli, inputs } = action
  const pull = readPullRequest(cli.env, 'verify-pr')
  if (pull.fork) {
    runner.annotate(
      'error',
      'the pull request comes from a fork: its records cannot be verified, and merging them would be a decision',
      {
        title: 'backporch',
      },
    )
    return 1
  }
  const repository = await cli.openRepository(inputs.repo, { baseBranch: pull.base.ref })
  const records = await readChangedRecords(repository, pull, cli.signal)
  let broken = false
  const found: { readonly path: string; readonly record: DriftRecord }[] = []
  for (const { path, text } of records) {
    const problem =
      text === null ? 'a record was removed: decisions are only added' : checkRecord(path, text)
    if (typeof problem === 'string') {
      broken = true
      runner.annotate('error', problem, { file: path, title: 'this record is not valid' })
    } else found.push({ path, record: problem })
  }
  const codes = await compare(action, pull.base.ref, found)
  const outcome = `${records.length} changed record${records.length === 1 ? '' : 's'}: ${broken || codes.includes(1) ? 'not all of them are valid' : codes.some((code) => code !== 0) ? 'not all of them could be checked' : 'all are valid'}\n`
  runner.log(outcome)
  if (inputs.summary) runner.writeSummary(`## Records of drift\n\n${outcome}`)
  return broken ? 1 : codes.includes(1) ? 1 : findWorstCode(codes)
}

function checkRecord(path: string, text: string): DriftRecord | string {
  if (!text.startsWith(`${INERT_LINE}\n`))
    return `its first line is not "${INERT_LINE}": Argo CD could apply it`
  let record: DriftRecord
  try {
    record = parseDocument(text, driftRecordSchema, path)
  } catch (thrown) {
    const failure = convertToFailure(thrown)
    return `it is not a DriftRecord (${failure.code}): ${failure.why}`
  }
  // Another document has no mark that keeps a syncer from applying it.
  if (parseGoYaml(text, path).documents.filter(({ value }) => !isNoManifest(value)).length !== 1)
    return 'it has more than one document'
  const { unit, episode } = record.spec
  if (
    !path.startsWith(`${RECORDS}/${formatPathSegment(unit.cluster)}/`) ||
    RECORD_FILE.exec(path.slice(path.lastIndexOf('/') + 1))?.[1] !== episode
  ) {
    return `its path is not that of episode ${episode} in cluster ${unit.cluster}`
  }
  return record
}

/** @returns 0 as recorded, 1 changed, others unknown */
async function compare(
  action: ActionRun,
  baseBranch: string,
  found: readonly { readonly path: string; readonly record: DriftRecord }[],
): Promise<number[]> {
  const { inputs, runner, cli } = action
  if (found.length === 0) return []
  const { key } = await cli.loadKey()
  const answers = new Map<string, Promise<Answered>>()
  const codes: number[] = []
  for (const { path, record } of found) {
    const { unit, keyId, fingerprint } = record.spec
    const unknown = (why: string): void => {
      runner.annotate(
        'warning',
        `cannot tell whether the drift is still the recorded one: ${why}`,
        { file: path, title: 'not verified' },
      )
      codes.push(inputs.partialOk ? 0 : 3)
    }
    const target = inputs.targets.find(
      ({ cluster }) => cluster === undefined || cluster === unit.cluster,
    )
    if (target === undefined) {
      unknown(`the input clusters does not name ${unit.cluster}`)
      continue
    }
    if (keyId !== key.id) {
      unknown('the record was made with another BACKPORCH_KEY')
      continue
    }
    const question = `${unit.cluster}\n${unit.package}`
    const requested =
      answers.get(question) ??
      action.ask({ command: 'diff', packages: [unit.package || '.'], target, branch: baseBranch })
    answers.set(question, requested)
    const { code, list } = await requested
    const report = list.items.find(
      ({ spec }) => spec.unit.package === unit.package && spec.unit.cluster === unit.cluster,
    )
    if (code !== 0) codes.push(code)
    else if (report === undefined) unknown(`no observation of ${unit.package} in ${unit.cluster}`)
    else if (report.spec.fingerprint !== fingerprint) {
      codes.push(1)
      runner.annotate('error', describeChange(report), {
        file: path,
        title: 'the cluster changed since this was recorded',
      })
    } else codes.push(0)
  }
  return codes
}

function describeChange({ spec }: DriftReport): string {
  const now =
    spec.changes.length === 0
      ? 'the drift is gone'
      : `there are ${spec.changes.length} changes now, with another fingerprint`
  return `${now}: run scan again, which updates or withdraws the proposal`
}

interface ChangedFile {
  readonly path: string
  /** Null: removed. */
  readonly text: string | null
}

async function readChangedRecords(
  repository: PackageRepository,
  { head, base }: EventPullRequest,
  signal: AbortSignal,
): Promise<ChangedFile[]> {
  const { refs } = await repository.listRefs(signal)
  const [before, after] = await Promise.all(
    [base, head].map(async ({ ref }) => {
      const commit = refs.get(`refs/heads/${ref}`)
      if (commit === undefined) throw createNoBranchFailure(ref)
      return indexYamlFiles(await repository.list(commit, RECORDS, signal))
    }),
  )
  const [old, now] = [before ?? new Map<string, TreeFile>(), after ?? new Map<string, TreeFile>()]
  // A decision under an earlier version's file name moves unchanged.
  const gone = [...old.values()].filter(({ path }) => !now.has(path))
  const moved = new Map(gone.map((file) => [getPresentName(file.path), file]))
  const changed = [...now.values()].filter(
    ({ path, id, mode }) => old.get(path)?.id !== id || old.get(path)?.mode !== mode,
  )
  const blobs = await repository.read(
    [...changed, ...gone].map(({ id }) => id),
    signal,
  )
  const textOf = ({ id }: TreeFile): string => new TextDecoder().decode(blobs.get(id))
  const isMoved = (file: TreeFile): boolean => {
    const before = moved.get(file.path)
    return (
      before !== undefined &&
      before.mode === file.mode &&
      appendLastDocument(textOf(before)).trimEnd() === textOf(file).trimEnd()
    )
  }
  const written = changed.filter((file) => !isMoved(file))
  const kept = new Set(changed.filter(isMoved).map(({ path }) => path))
  const removed = gone.map(({ path }) => path).filter((path) => !kept.has(getPresentName(path)))
  return [
    ...written.map((file) => ({ path: `${RECORDS}/${file.path}`, text: textOf(file) })),
    ...removed.map((path) => ({ path: `${RECORDS}/${path}`, text: null })),
  ]
}

function getPresentName(path: string): string {
  return convertToPresentPath(`${RECORDS}/${path}`).slice(RECORDS.length + 1)
}

/** Every record and other file that a syncer could read. */
function indexYamlFiles(files: readonly TreeFile[]): Map<string, TreeFile> {
  return new Map(
    files
      .filter(({ path }) => /\.(record|ya?ml|json)$/i.test(path))
      .map((file) => [file.path, file]),
  )
}

function createNoBranchFailure(ref: string): Failure {
  return new Failure({
    code: 'BP1003',
    what: `there is no branch ${JSON.stringify(ref)}`,
    where: 'the pull request',
    why: 'it was deleted after the workflow began, or the input repo names another repository',
    remedy: 'run the workflow again, or correct the input repo',
    retry: 'on-change',
  })
}
