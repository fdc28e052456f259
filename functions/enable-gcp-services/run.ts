#!/usr/bin/env node
import { runFunction } from '../sdk/run-function.ts'
import { enableGcpServices } from './fn.ts'

await runFunction(enableGcpServices)
