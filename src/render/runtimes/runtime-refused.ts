/** Why a function of a pipeline is not run, whoever could run it. */
import { Failure } from '../../failure.ts'
import { describeStep, functionName, type PipelineStep } from '../pipeline-step.ts'

export function programNotAllowed(step: PipelineStep, why: string): Failure {
  const text = step.function.exec.trim()
  return new Failure({
    code: 'BP1206',
    what: `the pipeline wants to run a program, ${functionName(step.function)}`,
    where: describeStep(step),
    why: `exec ${quoted(text)}: ${why}`,
    remedy: `allow it with --allow-exec=${quoted(text)} where it may run; no setting of the package can`,
    retry: 'on-change',
  })
}

export function imageNotAllowed(step: PipelineStep, image: string): Failure {
  return new Failure({
    code: 'BP1206',
    what: `the pipeline wants to run an image, ${functionName(step.function)}`,
    where: describeStep(step),
    why: `${image} is not on the list of images that are allowed${isPinned(image) ? '' : ', and it is not pinned by a digest'}`,
    remedy: isPinned(image)
      ? `allow it with --allow-image=${image} where it may run; no setting of the package can`
      : 'name it with @sha256:… and allow it with --allow-image where it may run; no setting of the package can',
    retry: 'on-change',
  })
}

function isPinned(image: string): boolean {
  return image.includes('@')
}

/** The operator allows a place, not whatever is put there tomorrow. */
export function imageNotPinned(step: PipelineStep, image: string): Failure {
  return new Failure({
    code: 'BP1206',
    what: `the pipeline wants to run an image that may change, ${functionName(step.function)}`,
    where: describeStep(step),
    why: `${image} has neither a digest nor the tag of a release, and only its registry or folder is allowed`,
    remedy: `name it with @sha256:… or with a tag like v1.2.3, or allow exactly --allow-image=${image}`,
    retry: 'on-change',
  })
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 119)}…` : text)
}
