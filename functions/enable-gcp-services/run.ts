#!/usr/bin/env node
/** `kpt fn eval --exec functions/enable-gcp-services/run.ts`, or the entry of a container image. */
import { runFunction } from '../sdk/run-function.ts'
import { enableGcpServices } from './fn.ts'

await runFunction(enableGcpServices)
