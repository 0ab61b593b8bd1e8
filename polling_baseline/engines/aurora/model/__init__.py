"""Aurora's model of streams: boxes, arrows, trains, scheduler, quality of service; it knows no road."""
