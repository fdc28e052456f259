#!/usr/bin/env node
/** `kpt fn eval --exec functions/kubeconform/run.ts`, or the entry of a container image. */
import { runFunction } from '../sdk/run-function.ts'
import { kubeconform } from './fn.ts'

await runFunction(kubeconform)
