import { describeStep, getFunctionName, type PipelineStep } from '@backporch/kpt/function'
import { Failure } from '@backporch/kyaml/failure'

export function createLimitFailure(
  step: PipelineStep | undefined,
  packagePath: string,
  why: string,
): Failure {
  return new Failure({
    code: 'BP1203',
    what:
      step === undefined
        ? 'rendering the package broke a limit'
        : `the function ${getFunctionName(step.function)} broke a limit`,
    where: step === undefined ? packagePath || '.' : describeStep(step),
    why,
    remedy:
      step === undefined
        ? 'make the package smaller, or split it'
        : 'reduce the input of the function, or correct it; the limits are fixed',
    retry: 'on-change',
  })
}

export function createNotPackageFailure(step: PipelineStep, why: string): Failure {
  return new Failure({
    code: 'BP1204',
    what: `the function ${getFunctionName(step.function)} does not return a package`,
    where: describeStep(step),
    why,
    remedy: 'correct the function: it must print a ResourceList with all resources to keep',
    retry: 'on-change',
  })
}

export function createNonDeterministicFailure(step: PipelineStep, why: string): Failure {
  return new Failure({
    code: 'BP1205',
    what: `NonDeterministic(${getFunctionName(step.function)}): the function gives different output for the same input`,
    where: describeStep(step),
    why,
    remedy:
      'remove dates, random values and everything else that is not in its input from the function',
    retry: 'on-change',
  })
}
