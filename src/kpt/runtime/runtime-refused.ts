import { Failure } from '@backporch/kyaml/failure'
import { describeStep, getFunctionName, type PipelineStep } from '../function/pipeline-step.ts'
import { splitWords } from './split-words.ts'

function createRefusedFailure(
  step: PipelineStep,
  what: string,
  why: string,
  remedy: string,
): Failure {
  return new Failure({
    code: 'BP1206',
    what: `the pipeline wants to run ${what}, ${getFunctionName(step.function)}`,
    where: describeStep(step),
    why,
    remedy,
    retry: 'on-change',
  })
}

export function createProgramNotAllowedFailure(step: PipelineStep, why: string): Failure {
  const text = (step.function.exec ?? '').trim()
  return createRefusedFailure(
    step,
    'a program',
    `exec ${quoteText(text)}: ${why}`,
    allowProgram(text),
  )
}

/** A relative path has no base folder: allowing it leads to the same refusal. */
function allowProgram(text: string): string {
  const [program = '', ...words] = splitWords(text) ?? []
  const [, module] =
    /^(?:(?:.*\/)?node )?(?:\S*\/)?([^\s/]+\.[cm]?[jt]s)$/.exec([program, ...words].join(' ')) ?? []
  if (module !== undefined)
    return `allow the module by its absolute path, --allow-module=/…/${module}; no setting of the package can allow it`
  if (program.startsWith('/') || !program.includes('/'))
    return `allow it with --allow-exec=${quoteText(text)}; no setting of the package can allow it`
  const name = program.replace(/^.*\//, '') || 'NAME'
  return words.length === 0
    ? `name the program without a path in the Kptfile (exec: ${name}), and allow it by its absolute path: --allow-exec=/…/${name}`
    : `name the program without a path in the Kptfile, as found on the PATH, and allow the whole text: --allow-exec='${name} …'`
}

export function createNoProgramFailure(step: PipelineStep): Failure {
  const why = `exec ${quoteText((step.function.exec ?? '').trim())}: the text cannot be split into words as a shell does`
  return createRefusedFailure(
    step,
    'a program',
    why,
    'write the name of a program there, and close every quote',
  )
}

export function createImageNotAllowedFailure(step: PipelineStep, image: string): Failure {
  const why = `${image} is not on the list of images that are allowed`
  return createRefusedFailure(
    step,
    'an image',
    why,
    `allow it with --allow-image=${image}; no setting of the package can allow it`,
  )
}

/** Not every later image of an allowed registry or folder is allowed. */
export function createImageNotPinnedFailure(step: PipelineStep, image: string): Failure {
  const why = `${image} has neither a digest nor the tag of a release, and only its registry or folder is allowed`
  const remedy = `name it with @sha256:… or with a tag like v1.2.3, or allow exactly --allow-image=${image}`
  return createRefusedFailure(step, 'an image that may change', why, remedy)
}

function quoteText(text: string): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 119)}…` : text)
}
