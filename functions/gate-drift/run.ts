#!/usr/bin/env node
/** `kpt fn eval --exec functions/gate-drift/run.ts`, or the entry of a container image. */
import { runFunction } from '../run-function.ts'
import { gateDrift } from './fn.ts'

await runFunction(gateDrift)
