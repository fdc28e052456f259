/** Runs the drift corpus live: each case is staged on a real control plane, and then Backporch and the other tools run in the same state. */
import { cpus, loadavg } from 'node:os'
import { connectCluster } from '@backporch/cluster/connect-cluster'
import { systemClock } from '../src/adapters/system/system-clock.ts'
import type { Observation } from '../src/plan/observation/observation.ts'
import { findAppliers } from '../test/appliers/appliers.ts'
import { type DriftCase, type ExpectedChange, readCases } from '../test/drift-corpus/case.ts'
import { mistakes, observeCase, observedIn } from '../test/drift-corpus/observe-case.ts'
import {
  type CaseStage,
  stageCase,
  startCorpusPlane,
  ToolNotRun,
} from '../test/drift-corpus/stage.ts'
import {
  type Answer,
  type CaseAnswers,
  classTable,
  overallTable,
  shown,
  table,
} from './accuracy-score.ts'
import { findPeers, type Peer } from './accuracy-tools.ts'
import { spread } from './table.ts'

export const OURS = 'backporch'
/** Concurrent cases: each mostly waits for the next second and for controllers. */
const WIDTH = 8

interface Judged {
  readonly one: DriftCase
  readonly answers: CaseAnswers
  readonly observed: readonly ExpectedChange[]
  readonly wrong: readonly string[]
}

/**
 * @param words only the cases whose names contain one of them
 * @returns a section of Markdown, without its heading. Rejects where no API server can be run.
 */
export async function benchAccuracy(
  words: readonly string[],
  report: (line: string) => void,
): Promise<string> {
  const cases = readCases(words)
  const appliers = await findAppliers({ report })
  const { peers, notRun, versions } = findPeers(appliers)
  const plane = await startCorpusPlane(report)
  const loads: number[] = []
  const judged: Judged[] = []
  const notStaged: string[] = []
  try {
    const { body } = await plane.request<{ gitVersion: string }>('GET', '/version')
    const waiting = cases.values()
    const worker = async (): Promise<void> => {
      for (const one of waiting) {
        loads.push(loadavg()[0] ?? Number.NaN)
        try {
          const stage = await stageCase(plane, one, appliers)
          try {
            const observed = observedIn(await observeStaged(stage))
            const answers = new Map<string, Answer>([
              [OURS, { state: 'answered', objects: objectsOf(observed.drift) }],
            ])
            for (const peer of peers)
              if (one.class !== 'rules' && peer.isRequested(one))
                answers.set(peer.name, await requestedOf(peer, stage))
            const wrong = mistakes(observed, one.truth)
            judged.push({
              one,
              answers: {
                name: one.name,
                class: one.class,
                truth: objectsOf(one.truth.drift),
                answers,
              },
              observed: observed.drift,
              wrong,
            })
            report(
              `${judged.length}/${cases.length} ${one.name}${wrong.length === 0 ? '' : `: ${wrong.join('; ')}`}`,
            )
          } finally {
            stage.close()
          }
        } catch (thrown) {
          const why = thrown instanceof Error ? thrown.message : String(thrown)
          notStaged.push(
            `\`${one.name}\`, ${thrown instanceof ToolNotRun ? 'its tool cannot run here' : 'it could not be staged'}: ${firstLine(why)}`,
          )
          report(`${one.name}: ${why}`)
        }
      }
    }
    await Promise.all(Array.from({ length: WIDTH }, worker))
    judged.sort((left, right) => (left.one.name < right.one.name ? -1 : 1))
    const machine = `${cpus().length} CPUs (${cpus()[0]?.model ?? 'unknown'}), ${process.platform}; one-minute load ${spread(loads, 1)}`
    return [
      sectionsOf(judged, [OURS, ...peers.map(({ name }) => name)]),
      ...notRun.map((line) => `Not run: ${line}.`),
      ...(notStaged.length === 0
        ? []
        : [
            `Cases that are not in the tables:\n\n${notStaged.map((line) => `- ${line}\n`).join('')}`,
          ]),
      `kube-apiserver ${body.gitVersion} with its controllers, Node ${process.versions.node}, ${versions.join(', ')}; ${machine}.`,
    ].join('\n\n')
  } finally {
    await plane.stop()
  }
}

async function observeStaged(stage: CaseStage): Promise<Observation> {
  const { kubeconfig, one } = stage
  const { reader, close } = connectCluster({
    kubeconfig,
    name: 'corpus',
    environment: {},
    clock: systemClock,
    version: '0.0.0',
  })
  try {
    return await observeCase(one, stage, reader)
  } finally {
    close()
  }
}

async function requestedOf(peer: Peer, stage: CaseStage): Promise<Answer> {
  try {
    return { state: 'answered', objects: await peer.ask(stage) }
  } catch (thrown) {
    return { state: 'failed', why: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}

function objectsOf(changes: readonly ExpectedChange[]): Set<string> {
  return new Set(changes.map(({ object }) => object))
}

function sectionsOf(judged: readonly Judged[], tools: readonly string[]): string {
  const cases = judged.map(({ answers }) => answers)
  const quiet = cases.filter(({ truth }) => truth.size === 0).length
  return [
    `${cases.length} cases, ${quiet} of which expect no drift.`,
    overallTable(tools, cases),
    '### Backporch, by field',
    fieldsOf(judged),
    missesOf(judged),
    '### Recall and precision by class',
    classTable(tools, cases),
    failuresOf(cases, tools),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** A line is correct if object, kind of change and field are; its writer and its risk are judged separately. */
function fieldsOf(judged: readonly Judged[]): string {
  let [found, wanted, text, writer, risk] = [0, 0, 0, 0, 0]
  for (const { one, observed } of judged) {
    wanted += one.truth.drift.length
    text += observed.length
    for (const change of one.truth.drift) {
      const line = observed.find(
        (other) =>
          other.object === change.object &&
          other.change === change.change &&
          other.path === change.path,
      )
      if (line === undefined) continue
      found += 1
      if (line.manager === change.manager && line.class === change.class) writer += 1
      if (line.risk === change.risk) risk += 1
    }
  }
  const share = (part: number, whole: number): string =>
    `${shown(whole === 0 ? undefined : part / whole)} (${part} of ${whole})`
  return table(
    ['recall', 'precision', 'correct writer', 'correct risk'],
    [[share(found, wanted), share(found, text), share(writer, found), share(risk, found)]],
  )
}

/** Every incorrect result of Backporch, known or new. */
function missesOf(judged: readonly Judged[]): string {
  const wrong = judged.filter((one) => one.wrong.length > 0)
  if (wrong.length === 0)
    return 'Backporch is correct in every case, including ignored differences and results that it cannot prove.'
  const lines = wrong.map(({ one, wrong: reported }) => {
    const known = one.knownGap === undefined ? '' : ` Known: ${one.knownGap}`
    return `- \`${one.name}\`: ${reported.map((line) => `\`${line}\``).join('; ')}.${known}\n`
  })
  return `Backporch is not correct in ${wrong.length} cases:\n\n${lines.join('')}`
}

function failuresOf(cases: readonly CaseAnswers[], tools: readonly string[]): string {
  const lines = tools.flatMap((tool) => {
    const failed = cases.flatMap(({ name, answers }) => {
      const answer = answers.get(tool)
      return answer?.state === 'failed' ? [{ name, why: answer.why }] : []
    })
    const [first] = failed
    if (first === undefined) return []
    return [
      `- ${tool}: ${failed.map(({ name }) => `\`${name}\``).join(', ')}; first message: \`${firstLine(first.why)}\`\n`,
    ]
  })
  return lines.length === 0 ? '' : `### Failures\n\n${lines.join('')}`
}

/** A tool's message, cut to one line of Markdown and without paths of this machine. */
function firstLine(why: string): string {
  const line = why.split('\n').find((one) => one.trim() !== '') ?? ''
  return line
    .replaceAll(/\/tmp\/\S*/g, 'FILE')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'SERVER')
    .replaceAll('`', "'")
    .replaceAll('|', '\\|')
    .slice(0, 160)
}
